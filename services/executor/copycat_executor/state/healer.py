"""Restarts failed connectors and tasks without a hand, where the configurations say so."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import replace

from copycat_connect.cluster import Config, Instance
from copycat_connect.config.healing import Healing
from copycat_connect.errors import ConfigError
from copycat_connect.failure_kind import FailureKind
from copycat_rpc.acts import CIRCUIT_CLOSED, CIRCUIT_OPENED, LEFT_FAILED, RESTARTED, ActReporter
from copycat_telemetry.changes import log_change

from copycat_executor.background.jobs import Jobs
from copycat_executor.domain.healing import Restarts, Verdict, after_failure
from copycat_executor.domain.running import Phase
from copycat_executor.state.board import Board

log = logging.getLogger(__name__)


class Healer:
    """Decides about each failure, and marks what failed for a restart when its wait is over."""

    def __init__(
        self,
        board: Board,
        jobs: Jobs,
        worker: Config,
        acts: ActReporter,
        *,
        clock: Callable[[], float],
        random: Callable[[], float],
    ) -> None:
        """`worker` is the worker's configuration; `random` gives numbers from 0 to 1."""
        self._board = board
        self._jobs = jobs
        self._worker = worker
        self._acts = acts
        self._open: set[Instance] = set()
        self._clock = clock
        self._random = random
        self._restarts: dict[Instance, Restarts] = {}
        self._waiting: dict[Instance, asyncio.Task[None]] = {}

    def failed(self, instance: Instance, connector: Config, kind: FailureKind, trace: str) -> str:
        """Decide about what has failed just now; returns the trace, with what is done at its end."""
        try:
            healing = Healing.of(connector, self._worker)
        except ConfigError:
            return trace  # the configuration is what failed, and its trace says so
        before = self._restarts.get(instance, Restarts())
        verdict = after_failure(before, healing, kind, self._clock(), self._random())
        self._restarts[instance] = verdict.restarts
        self._end_wait(instance)
        self._tell(instance, kind, verdict)
        if verdict.wait is not None:
            job = self._restart(instance, verdict, kind)
            self._waiting[instance] = self._jobs.spawn(job, f"restart of {instance}")
        return f"{trace.rstrip()}\n{verdict.text}\n" if verdict.text else trace

    def running(self, instance: Instance) -> None:
        """Something that was restarted runs."""
        known = self._restarts.get(instance)
        if known is not None:
            self._restarts[instance] = replace(known, running_since=self._clock())

    def forget(self, instance: Instance) -> None:
        """A user restarts it, or it left: what was before counts no more."""
        self._restarts.pop(instance, None)
        self._end_wait(instance)
        if instance in self._open:
            self._open.discard(instance)
            self._acts.report(instance, CIRCUIT_CLOSED, "It is restarted by hand, or has left this worker.")

    def _tell(self, instance: Instance, kind: FailureKind, verdict: Verdict) -> None:
        """Report that it stays FAILED; a restart is reported when it is due."""
        if verdict.wait is not None or not verdict.text:
            return
        if verdict.opens_circuit:
            self._open.add(instance)
        what = CIRCUIT_OPENED if verdict.opens_circuit else LEFT_FAILED
        restarts = len(verdict.restarts.times)
        self._acts.report(instance, what, verdict.text, failure=kind.value, restarts=restarts)

    def _end_wait(self, instance: Instance) -> None:
        waiting = self._waiting.pop(instance, None)
        if waiting is not None:
            waiting.cancel()

    async def _restart(self, instance: Instance, verdict: Verdict, kind: FailureKind) -> None:
        wait = verdict.wait or 0.0
        await asyncio.sleep(wait)
        self._waiting.pop(instance, None)
        runs = (
            self._board.connectors.get(instance.connector)
            if instance.task is None
            else self._board.tasks.get(instance)
        )
        if runs is None or runs.phase is not Phase.FAILED:
            return  # it has gone, or something else has restarted it
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
        if instance.task is None:
            self._board.change_connector(instance.connector, restart=True)
        else:
            self._board.change_task(instance, restart=True)
