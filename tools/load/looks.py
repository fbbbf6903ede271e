"""What a worker does when something changes, in a cluster that rests."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from copycat.config.v1 import config_service_pb2 as config_pb
from copycat.scheduler.v1 import scheduler_service_pb2 as scheduler_pb
from copycat_config.adapters import messages as config_messages
from copycat_config.domain.state import ConfigState
from copycat_executor.background.changes import ChangeSignal
from copycat_executor.domain.actions import Action, StartConnector, StartTask
from copycat_executor.domain.running import Phase, RunningConnector, RunningTask
from copycat_executor.metrics.worker_meter import WorkerMeter
from copycat_executor.state.differences import Differences
from copycat_executor.state.feed import Feed
from copycat_executor.state.lease import WorkerLease
from copycat_executor.state.runs import Runs
from copycat_scheduler.adapters import messages as scheduler_messages
from copycat_scheduler.domain.events import Assigned
from copycat_telemetry.metrics.sampled import Windows

LEASE_SECONDS = 10.0


class Looks:
    """A worker that runs its share of what is assigned."""

    def __init__(self, worker_id: str, state: ConfigState, given: Sequence[Assigned]) -> None:
        lease, changes = WorkerLease(lambda: 0.0), ChangeSignal()
        lease.renewed(0.0, LEASE_SECONDS)
        lease.assignments_known(lease.lapses)
        self._feed, self._runs = (
            Feed(worker_id, changes, lease),
            Runs(changes, WorkerMeter(Windows(), clock=lambda: 0.0, wall=lambda: 0.0)),
        )
        self._differences = Differences(self._feed, self._runs)
        self._feed.connectors(
            [
                config_pb.WatchConnectorsResponse(
                    connector=config_messages.listed_message(name, state.connectors[name])
                )
                for name in state.connectors
            ]
        )
        self._assignments = [
            scheduler_pb.WatchAssignmentsResponse(assignment=scheduler_messages.assignment_message(each))
            for each in given
        ]
        self._feed.assignments(self._assignments)
        for action in self._differences.due():
            self._start(action)
        while self._differences.due():
            pass

    def measure(self, cpu: Callable[[str, Callable[[], object]], object]) -> None:
        """Let `cpu` measure a look at everything, and one at what one change touches."""
        cpu("a worker of three: a look at everything", self._at_everything)
        cpu("a worker of three: a look after one change", self._at_one)

    def _at_everything(self) -> None:
        self._feed.changed_connectors.add_all()
        assert not self._differences.due()

    def _at_one(self) -> None:
        self._feed.assignment_changed(self._assignments[0])
        assert not self._differences.due()

    def _start(self, action: Action) -> None:
        match action:
            case StartConnector(w):
                self._runs.connector(w.name).enter(
                    RunningConnector(w.config, w.generation, w.target, Phase.SETTLED)
                )
            case StartTask(t):
                runs = RunningTask(
                    t.connector_config, t.task_config, t.partitions, t.generation, t.target, Phase.SETTLED
                )
                self._runs.task(t.instance).enter(runs)
