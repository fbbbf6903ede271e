"""What is done about failures of tasks and connectors, and about deaths of the hosts of tasks.

What failed is restarted as its configuration says. Tasks whose hosts died start again, apart from others,
but not for ever: a task is called failed when it is the only one whose code ran in the hosts that died. Those
that share a host with it start again, however often that is.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from copycat_connect.cluster import Config, Instance
from copycat_connect.config.healing import Healing
from copycat_connect.errors import ConfigError
from copycat_connect.failure_kind import FailureKind
from copycat_connect.retry import RetryPolicy
from copycat_rpc.acts import CIRCUIT_CLOSED, CIRCUIT_OPENED, HOST_DIED, LEFT_FAILED, RESTARTED, ActReporter
from copycat_telemetry.changes import log_change

from copycat_executor.background import BackgroundJobs
from copycat_executor.domain.deaths import MAX_QUICK_REPEATS, Suspicions, after_death
from copycat_executor.domain.healing import Restarts, Verdict, after_failure, tolerates
from copycat_executor.domain.running import Phase
from copycat_executor.state.runs import ConnectorRun, TaskRun

log = logging.getLogger(__name__)

#: Waits of tasks that cannot be kept apart, since there are too few slots, and whose hosts die all the same.
CROWDED: Final = RetryPolicy(first=1.0, factor=2.0, ceiling=30.0)


class Recovery:
    """Decides about each failure and each death of a host; remembers both until somebody restarts by hand."""

    def __init__(
        self,
        jobs: BackgroundJobs,
        worker: Config,
        acts: ActReporter,
        *,
        clock: Callable[[], float],
        random: Callable[[], float],
    ) -> None:
        """`worker` is the worker's configuration; `random` gives numbers from 0 to 1."""
        self._jobs = jobs
        self._worker = worker
        self._acts = acts
        self._clock = clock
        self._random = random
        self._suspicions: Suspicions[Instance] = Suspicions()

    def failed(
        self,
        run: TaskRun | ConnectorRun,
        connector: Config,
        kind: FailureKind,
        trace: str,
        *,
        tolerable: bool = False,
    ) -> str:
        """Decide about what has failed just now; returns the trace, with what is done at its end.

        `tolerable` says that `errors.tolerance` has a say where it failed.
        """
        try:
            healing = Healing.of(connector, self._worker)
        except ConfigError:
            return trace  # the configuration is what failed, and its trace says so
        failures = run.failures
        helps = tolerable and not tolerates(connector)
        before, now, random = failures.restarts or Restarts(), self._clock(), self._random()
        verdict = after_failure(before, healing, kind, now, random, tolerance_helps=helps)
        failures.restarts = verdict.restarts
        failures.cancel_restart()
        if verdict.wait is not None:
            job = self._restart(run, verdict, kind)
            failures.due_restart = self._jobs.spawn(job, f"restart of {run.instance}")
        elif verdict.text:  # a restart is reported when it is due
            failures.circuit_open = failures.circuit_open or verdict.opens_circuit
            what = CIRCUIT_OPENED if verdict.opens_circuit else LEFT_FAILED
            restarts = len(verdict.restarts.times)
            self._acts.report(run.instance, what, verdict.text, failure=kind.value, restarts=restarts)
        return f"{trace.rstrip()}\n{verdict.text}\n" if verdict.text else trace

    def runs_again(self, run: TaskRun | ConnectorRun) -> None:
        """Note that what may have been restarted runs."""
        if run.failures.restarts is not None:
            run.failures.restarts = replace(run.failures.restarts, running_since=self._clock())

    def forget(self, run: TaskRun | ConnectorRun) -> None:
        """Begin anew with what a user restarts, or what has left: what was before counts no more."""
        failures = run.failures
        failures.restarts = failures.deaths = None
        failures.cancel_restart()
        self._suspicions = self._suspicions.without(run.instance)
        if failures.circuit_open:
            failures.circuit_open = False
            why = "It is restarted by hand, or has left this worker."
            self._acts.report(run.instance, CIRCUIT_CLOSED, why)

    def host_died(self, tasks: Sequence[TaskRun]) -> None:
        """Count a death of a host; `tasks` are those whose code ran there, or the one that is to blame."""
        self._suspicions = self._suspicions.after([task.instance for task in tasks], _now())
        if len(tasks) == 1:
            _count_death(tasks[0], taken=True)

    def hung(self, task: TaskRun) -> None:
        """Note that a task hangs, or holds others up, and its host ends: it has the next one for itself."""
        self._suspicions = self._suspicions.after((task.instance,), _now())

    def starts_again(self, task: TaskRun, reason: str, *, taken: bool) -> bool:
        """Return whether a task whose host died starts again: not when it ends any host, by itself.

        It is then called failed; restarted, it gets as many tries again, still apart from others. `taken`
        says whether its host had its order.
        """
        if not taken:
            _count_death(task, taken=False)
        if task.failures.deaths is not None and task.failures.deaths.hopeless:
            task.failures.deaths = None
            return False
        self._acts.report(task.instance, HOST_DIED, f"Its host died: {reason}. The task starts again.")
        return True

    def suspected(self, task: TaskRun) -> bool:
        """Return whether a task may be what ended its host: it is kept apart from others."""
        return self._recent().count(task.instance) > 0

    def foremost(self, task: TaskRun) -> bool:
        """Return whether it ended a host, or is suspected of two such ends, and no other task of more."""
        recent, who = self._recent(), task.instance
        return (recent.count(who) > 1 or recent.certain(who)) and recent.foremost(who)

    def cleared(self, task: TaskRun) -> bool:
        """Return whether others may share its host again: some are more suspect, or nobody is."""
        return not (self.suspected(task) and self._recent().foremost(task.instance))

    def wait_seconds(self, task: TaskRun) -> float:
        """Return how long a task waits before it is started again; most do not."""
        crowded = self._recent().count(task.instance) - MAX_QUICK_REPEATS
        return CROWDED.wait(crowded - 1, 0.0) if crowded > 0 else 0.0

    def _recent(self) -> Suspicions[Instance]:
        self._suspicions = self._suspicions.recent(_now())
        return self._suspicions

    async def _restart(self, run: TaskRun | ConnectorRun, verdict: Verdict, kind: FailureKind) -> None:
        wait = verdict.wait or 0.0
        await asyncio.sleep(wait)
        run.failures.due_restart = None
        if run.phase is not Phase.FAILED:
            return  # it has gone, or something else has restarted it
        instance = run.instance
        log_change(
            log,
            "connector restarted by itself" if instance.task is None else "task restarted by itself",
            connector=instance.connector,
            task=instance.task,
            why=f"its failure was classed as {kind.value}",
        )
        number = len(verdict.restarts.times)
        self._acts.report(
            instance,
            RESTARTED,
            verdict.text,
            failure=kind.value,
            restart=number,
            waited_seconds=round(wait, 1),
        )
        run.change(restart=True)  # `reconcile` wants it gone now, and there at its next look


def _count_death(task: TaskRun, *, taken: bool) -> None:
    task.failures.deaths = after_death(task.failures.deaths, _now(), taken=taken)


def _now() -> float:
    return asyncio.get_running_loop().time()
