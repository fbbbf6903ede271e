"""A cluster without a network: workers that start and drain what the plan says, as slowly as a test likes."""

from dataclasses import dataclass, field
from functools import reduce

from copycat_connect.cluster import Instance
from copycat_scheduler.domain.commands import DesiredConnector, Reschedule
from copycat_scheduler.domain.decide import decide
from copycat_scheduler.domain.events import Assigned, SchedulerEvent, Unassigned
from copycat_scheduler.domain.evolve import evolve
from copycat_scheduler.domain.state import SchedulerState


@dataclass
class Worker:
    leaving: bool = False
    running: dict[Instance, Assigned] = field(default_factory=dict)


@dataclass
class Cluster:
    desired: dict[str, DesiredConnector] = field(default_factory=dict)
    workers: dict[str, Worker] = field(default_factory=dict)
    absent: set[str] = field(default_factory=set)
    state: SchedulerState = field(default_factory=SchedulerState)
    generation: int = 0

    def plan(self) -> tuple[SchedulerEvent, ...]:
        self.generation += 1
        former = {instance: name for name, worker in self.workers.items() for instance in worker.running}
        world = Reschedule(
            desired=self.desired,
            workers={name for name, worker in self.workers.items() if not worker.leaving},
            absent=self.absent,
            held=self._held(),
            former=former,
            generation=self.generation,
        )
        events = decide(world, self.state)
        self._check(events)
        self.state = reduce(evolve, events, self.state)
        return events

    def settle(self) -> list[SchedulerEvent]:
        """Plan and let all workers follow, until nothing changes."""
        seen: list[SchedulerEvent] = []
        for _ in range(20):
            events = self.plan()
            seen += events
            moved = [self.follow(name) for name in sorted(self.workers)]
            if not events and not any(moved):
                return seen
        msg = f"no fixed point: {seen[-20:]}"
        raise AssertionError(msg)

    def follow(self, name: str) -> bool:
        """Let one worker drain and start what it should; whether there was anything to do."""
        worker = self.workers[name]
        should = {i: a for i, a in self.state.assignments.items() if a.worker_id == name}
        changed = worker.running != should
        worker.running = should
        self._check_readers()
        return changed

    def kill(self, name: str) -> None:
        del self.workers[name]

    def loads(self, *, tasks: bool) -> list[int]:
        """How many connectors, or tasks, each live worker has."""
        return [
            sum(
                1
                for instance, assigned in self.state.assignments.items()
                if assigned.worker_id == name and (instance.task is not None) == tasks
            )
            for name, worker in self.workers.items()
            if not worker.leaving
        ]

    def _held(self) -> dict[Instance, set[str]]:
        held: dict[Instance, set[str]] = {}
        for name, worker in self.workers.items():
            for instance in worker.running:
                held.setdefault(instance, set()).add(name)
        for instance, assigned in self.state.assignments.items():
            if assigned.worker_id in self.workers or assigned.worker_id in self.absent:
                held.setdefault(instance, set()).add(assigned.worker_id)
        return held

    def _check(self, events: tuple[SchedulerEvent, ...]) -> None:
        held = self._held()
        for event in events:
            if isinstance(event, Assigned):
                assert not held.get(event.instance), f"{event} while {held[event.instance]} may run it"
                assert event.worker_id in self.workers
                assert not self.workers[event.worker_id].leaving
            else:
                assert isinstance(event, Unassigned)
                assert event.instance in self.state.assignments

    def _check_readers(self) -> None:
        read = [
            (instance.connector, partition)
            for worker in self.workers.values()
            for instance, assigned in worker.running.items()
            for partition in assigned.partitions
        ]
        assert len(read) == len(set(read)), "two tasks of a sink read the same partition"
