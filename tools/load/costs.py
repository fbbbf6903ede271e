"""`make load-costs`: CPU time and sizes of what the services do about every connector, in memory.

CPU time of one process: a busy machine makes it little worse, where it would make a stopwatch useless.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from typing import Any, Final, TypeVar

import immutables
from copycat.config.v1 import config_service_pb2 as config_pb
from copycat.scheduler.v1 import scheduler_service_pb2 as scheduler_pb
from copycat.status.v1 import status_service_pb2 as status_pb
from copycat_config.adapters import messages as config_messages
from copycat_config.adapters.codec import ConfigCodec
from copycat_config.domain.evolve import evolve as evolve_config
from copycat_config.domain.state import ConfigState
from copycat_connect.cluster import Instance
from copycat_eventlog.log import Codec
from copycat_executor import peers
from copycat_executor.background import ChangeSignal
from copycat_executor.domain.reconcile import Action, ConnectorToStart, StartTask
from copycat_executor.domain.running import Phase, RunningConnector, RunningTask
from copycat_executor.metrics.worker_meter import WorkerMeter
from copycat_executor.state.differences import Differences
from copycat_executor.state.feed import Feed
from copycat_executor.state.lease import WorkerLease
from copycat_executor.state.runs import Runs
from copycat_scheduler.adapters import messages as scheduler_messages
from copycat_scheduler.domain.commands import DesiredConnector, Reschedule
from copycat_scheduler.domain.decide import decide
from copycat_scheduler.domain.events import Assigned
from copycat_scheduler.domain.evolve import evolve as evolve_assignments
from copycat_scheduler.domain.leases import Leases, WorkerSession
from copycat_scheduler.domain.state import SchedulerState
from copycat_scheduler.domain.upkeep import Observed, upkeep
from copycat_status.adapters import messages as status_messages
from copycat_status.adapters.codec import StatusCodec
from copycat_status.domain.events import StatusSet
from copycat_status.domain.evolve import evolve as evolve_statuses
from copycat_status.domain.state import StatusState
from copycat_status.domain.status import State, Status
from copycat_telemetry.metrics.sampled import Windows

from tools.load.crowd import name_of
from tools.load.page import figures_table
from tools.load.simulation.plane import stored_events
from tools.load.simulation.worker import TASKS

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
            case ConnectorToStart(w):
                self._runs.connector(w.name).enter(
                    RunningConnector(w.config, w.generation, w.target, Phase.SETTLED)
                )
            case StartTask(t):
                runs = RunningTask(
                    t.connector_config, t.task_config, t.partitions, t.generation, t.target, Phase.SETTLED
                )
                self._runs.task(t.instance).enter(runs)


SIZES: Final = "500,10000"
WORKERS: Final = ("worker-1:8083", "worker-2:8083", "worker-3:8083")
TIMES: Final = 3
MB: Final = 1e6

T = TypeVar("T")
E = TypeVar("E")
S = TypeVar("S")


class Costs:
    """The figures of one size of cluster."""

    def __init__(self, connectors: int) -> None:
        self.figures: dict[str, float | None] = {}
        self._names = [name_of(number) for number in range(connectors)]

    def measure(self) -> None:
        """Fill the figures."""
        assignments = self._scheduler()
        Looks(WORKERS[0], self._config(), assignments).measure(self._cpu)
        self._status(assignments)

    def _config(self) -> ConfigState:
        events = list(stored_events(len(self._names)))
        state = self._replay("config", ConfigCodec(), evolve_config, ConfigState(), events)
        self._message(
            "ListConnectors",
            lambda: config_pb.ListConnectorsResponse(
                connectors=[
                    message
                    for name in sorted(state.connectors)
                    if (message := config_messages.listed_message(name, state.connectors[name]))
                ]
            ),
        )
        return state

    def _status(self, assignments: Sequence[Assigned]) -> None:
        events = [
            StatusSet(each.instance, Status(State.RUNNING, each.worker_id, 1, since_ms=1))
            for each in assignments
        ]
        state = self._replay("status", StatusCodec(), evolve_statuses, StatusState(), events)
        self._cpu("status: snapshot of a watch", lambda: _written(status_messages.snapshot_messages(state)))
        self._message(
            "ListConnectorStatuses, without what is kept of them",
            lambda: status_pb.ListConnectorStatusesResponse(
                statuses=[
                    status_pb.ConnectorStatus(
                        connector=name,
                        tasks={
                            task: status_messages.status_message(status)
                            for task, status in state.facts(name).tasks.items()
                        },
                    )
                    for name in self._names
                ]
            ),
        )

    def _scheduler(self) -> Sequence[Assigned]:
        desired = dict.fromkeys(self._names, DesiredConnector(TASKS))
        first = Reschedule(desired, frozenset(WORKERS), generation=1)
        events = self._cpu("scheduler: a plan that assigns all", lambda: decide(first, SchedulerState()))
        given = [each for each in events if isinstance(each, Assigned)]
        state = self._cpu(
            "scheduler: fold of that", lambda: reduce(evolve_assignments, events, SchedulerState())
        )
        running = {each.instance: each.worker_id for each in given}
        leases = _leases(given)
        held = leases.holders(given, running, 1.0)
        self._cpu("scheduler: who holds what", lambda: leases.holders(given, running, 1.0))
        idle = Reschedule(desired, frozenset(WORKERS), held=held, former=running, generation=2)
        self._cpu("scheduler: a plan that changes nothing", lambda: decide(idle, state))
        lost = Reschedule(desired, frozenset(WORKERS[1:]), former=running, generation=2)
        moved = self._cpu("scheduler: a plan after the loss of a worker", lambda: decide(lost, state))
        self.figures["scheduler: changes in that plan"] = len(moved)
        observed = {each: Observed(worker, 1, unassigned=False) for each, worker in running.items()}
        self._cpu(
            "scheduler: upkeep of statuses",
            lambda: upkeep(desired, observed, lambda: set(running), lambda _: True),
        )
        self._cpu(
            "scheduler: snapshot of a watch", lambda: _written(scheduler_messages.snapshot_messages(state))
        )
        mine = leases.sessions[WORKERS[0]].held
        beat = self._message(
            "heartbeat of a worker of three",
            lambda: scheduler_pb.JoinRequest(
                worker_id=WORKERS[0],
                held=[peers.held(each, generation) for each, generation in mine.items()],
            ),
        )
        self._cpu("scheduler: a heartbeat read", lambda: scheduler_messages.held_instances(beat.held))
        said = beat.SerializeToString()
        self._cpu("scheduler: the same heartbeat again", lambda: beat == type(beat).FromString(said))
        self._message(
            "ListWorkers",
            lambda: scheduler_pb.ListWorkersResponse(
                workers=[scheduler_messages.worker_message(each) for each in leases.sessions.values()]
            ),
        )
        return given

    def _replay(
        self,
        service: str,
        codec: Codec[Any],
        evolve: Callable[[S, Any], S],
        initial: S,
        events: Sequence[Any],
    ) -> S:
        records = [codec.encode(event) for event in events]
        self.figures[f"{service}: log, compacted, MB"] = (
            sum(len(each.key) + len(each.value or b"") for each in records) / MB
        )
        name = f"{service}: replay of the log"
        state = self._cpu(name, lambda: reduce(evolve, map(codec.decode, records), initial))
        spent = self.figures[f"{name}, ms"]
        self.figures[f"{service}: events folded a second"] = len(records) / (spent or 1.0) * 1000
        return state

    def _message(self, name: str, make: Callable[[], T]) -> T:
        def written() -> T:
            message: Any = make()
            message.SerializeToString()
            return message  # type: ignore[no-any-return]

        message: Any = self._cpu(f"{name}: made", written)
        self.figures[f"{name}: size, MB"] = message.ByteSize() / MB
        return message  # type: ignore[no-any-return]

    def _cpu(self, name: str, work: Callable[[], T]) -> T:
        """Do it some times, and keep the least CPU time that took, in ms."""
        spent = []
        for _ in range(TIMES):
            began = time.process_time()
            result = work()
            spent.append(time.process_time() - began)
        self.figures[f"{name}, ms"] = 1000 * min(spent)
        return result


def main() -> int:
    """Print a table of what each act costs, by the number of connectors."""
    parser = argparse.ArgumentParser(prog="make load-costs", description=__doc__)
    parser.add_argument("--sizes", default=SIZES, help=f"connectors, comma-separated ({SIZES})")
    wanted = parser.parse_args()
    sizes = [int(size) for size in wanted.sizes.split(",")]
    found = [Costs(size) for size in sizes]
    for each in found:
        each.measure()
    print(figures_table([each.figures for each in found], sizes))
    return 0


def _leases(given: Iterable[Assigned]) -> Leases:
    held: dict[str, dict[Instance, int]] = {worker: {} for worker in WORKERS}
    for each in given:
        held[each.worker_id][each.instance] = each.generation
    sessions = {worker: WorkerSession(worker, mine, leaving=False, at=0.0) for worker, mine in held.items()}
    return Leases(since=0.0, length=10.0, sessions=immutables.Map(sessions))


def _written(messages: Iterable[Any]) -> int:
    return sum(len(message.SerializeToString()) for message in messages)


if __name__ == "__main__":
    sys.exit(main())
