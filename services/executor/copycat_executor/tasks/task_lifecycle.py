"""How starts of tasks begin and end on this worker, and what is reported of that."""

from __future__ import annotations

from copycat.status.v1.status_service_pb2 import Trouble
from copycat.types.v1 import types_pb2
from copycat_connect.failure_kind import FailureKind

from copycat_executor.domain.desired import WantedTask
from copycat_executor.domain.placement import Isolation
from copycat_executor.domain.running import Phase
from copycat_executor.hosts.host_pools import HostPools
from copycat_executor.hosts.launched_host import LaunchedHost
from copycat_executor.outbox import status_outbox
from copycat_executor.outbox.status_outbox import StatusOutbox
from copycat_executor.outbox.trouble_outbox import TroubleOutbox
from copycat_executor.state.feed import Feed
from copycat_executor.state.recovery import Recovery
from copycat_executor.state.runs import Runs, TaskRun, TaskStart


class TaskLifecycle:
    """Begins and ends starts of tasks; each ends once, by its stop, its failure or the end of its host."""

    def __init__(
        self,
        runs: Runs,
        feed: Feed,
        hosts: HostPools,
        *,
        statuses: StatusOutbox,
        troubles: TroubleOutbox,
        recovery: Recovery,
    ) -> None:
        self._runs = runs
        self._feed = feed
        self._hosts = hosts
        self._statuses = statuses
        self._troubles = troubles
        self._recovery = recovery

    def begin(self, wanted: WantedTask) -> TaskStart:
        """Enter a start of a task."""
        return self._runs.task(wanted.instance).begin(wanted)

    def place(self, start: TaskStart, host: LaunchedHost) -> bool:
        """Note the host of a start; False where another worker may have been given the task meanwhile."""
        start.host = host
        if self._feed.assignments_count():
            return True
        self.close(start)
        start.run.leave()
        return False

    def settle(self, start: TaskStart, state: types_pb2.State.ValueType, version: str | None) -> None:
        """Note that a task is in its target state."""
        start.settled.set()
        if start.stopping:
            return
        self.report(start, state, version=version)
        self._recovery.runs_again(start.run)
        if start.run.phase is Phase.STARTING:
            start.run.change(phase=Phase.SETTLED)

    def close(self, start: TaskStart) -> None:
        """End a start and free its place."""
        start.settled.set()
        if start.run.start is start:
            start.run.start = None
            self._troubles.withdraw(start.run.trouble)
        if start.host is not None:
            self._hosts.release(start.host, start.instance)

    def fail(
        self,
        start: TaskStart,
        trace: str,
        kind: FailureKind,
        version: str | None = None,
        *,
        tolerable: bool = False,
    ) -> None:
        """End a start by failure: the task is restarted as its configuration says, or by a user.

        `tolerable` says that `errors.tolerance` has a say where it failed.
        """
        self.close(start)
        start.run.change(phase=Phase.FAILED)
        config = start.wanted.connector_config
        trace = self._recovery.failed(start.run, config, kind, trace, tolerable=tolerable)
        self.report(start, status_outbox.FAILED, trace=trace, version=version)

    def stopped(self, start: TaskStart) -> None:
        """End the start of a task that was stopped; the task leaves."""
        self.close(start)
        if not (start.failed or start.hung or self._feed.wants(start.instance)):
            self.report(start, status_outbox.UNASSIGNED)
        self.leave(start.run)

    def leave(self, run: TaskRun) -> None:
        """Note that a task has left; what is not wanted any more begins anew should it come back."""
        if not self._feed.wants(run.instance):
            self._recovery.forget(run)
        run.leave()

    def let_share(self) -> None:
        """Let others into the hosts of tasks that were kept apart and need not be any more."""
        for start in [run.start for run in self._runs.tasks if run.start is not None]:
            host = start.host
            if host is not None and start.instance in host.tasks and self._recovery.cleared(start.run):
                host.take(start.instance, Isolation.of(start.wanted.connector_config))

    def moves(self, run: TaskRun) -> None:
        """Note that a task waits for nothing any more."""
        self._troubles.withdraw(run.trouble)

    def troubled(self, start: TaskStart, trouble: Trouble | None) -> None:
        """Report what keeps a task from moving; None when nothing does any more."""
        if trouble is None:
            self._troubles.over(start.run.trouble)
        else:
            self._troubles.report(start.run.trouble, start.wanted.generation, trouble)

    def report(
        self,
        start: TaskStart,
        state: types_pb2.State.ValueType,
        *,
        trace: str | None = None,
        version: str | None = None,
    ) -> None:
        """Report what a task does now."""
        start.run.measure_state(state)
        generation = self._feed.generation_for(start.instance, start.wanted.generation)
        self._statuses.report(start.instance, state, generation, trace=trace, version=version)
