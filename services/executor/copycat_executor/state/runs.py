"""What this worker runs: one object a task and one a connector, changed only from the event loop."""

from __future__ import annotations

import asyncio
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Generic, TypeVar

from copycat.host.v1 import host_service_pb2 as pb
from copycat.status.v1.status_service_pb2 import Trouble
from copycat.types.v1 import types_pb2
from copycat_connect.cluster import Config, Instance
from copycat_telemetry.metrics.definitions import Reading

from copycat_executor import peers
from copycat_executor.background import ChangedConnectors, ChangeSignal
from copycat_executor.domain.deaths import Deaths
from copycat_executor.domain.desired import WantedConnector, WantedTask
from copycat_executor.domain.healing import Restarts
from copycat_executor.domain.running import Phase, Running, RunningConnector, RunningTask, UsedPlugin
from copycat_executor.hosts.launched_host import LaunchedHost
from copycat_executor.metrics.task_meter import TaskMeter
from copycat_executor.metrics.worker_meter import ConnectorMeter, WorkerMeter
from copycat_executor.outbox.commit_outbox import TaskProgress
from copycat_executor.outbox.topic_outbox import SeenTopics
from copycat_executor.outbox.trouble_outbox import OpenTrouble

R = TypeVar("R", RunningConnector, RunningTask)
M = TypeVar("M", ConnectorMeter, TaskMeter)


@dataclass(slots=True)
class Failures:
    """What is remembered of the failures of a task or connector."""

    restarts: Restarts | None = None
    """Without a hand; None before the first failure."""
    due_restart: asyncio.Task[None] | None = None
    """Restarts it when its wait is over."""
    circuit_open: bool = False
    """It stays FAILED because it was restarted too often."""
    deaths: Deaths | None = None
    """Of the hosts of a task."""

    @property
    def any(self) -> bool:
        """Whether there is anything to remember."""
        return self.restarts is not None or self.deaths is not None

    def cancel_restart(self) -> None:
        """Restart it no more."""
        if self.due_restart is not None:
            self.due_restart.cancel()
            self.due_restart = None


class _Run(Generic[R, M]):
    """What a task and a connector have in common: what `reconcile` sees of it, while it is on this worker."""

    def __init__(self, instance: Instance, runs: Runs) -> None:
        self.instance = instance
        self.running: R | None = None
        """None while it is not on this worker, though something of it still counts."""
        self.meter: M | None = None
        """Measures it while it is here."""
        self.trouble = OpenTrouble(instance)
        self.failures = Failures()
        self._runs = runs

    @property
    def phase(self) -> Phase | None:
        """Where it is in its life here; None while it is not here."""
        return None if self.running is None else self.running.phase

    def enter(self, running: R) -> None:
        """Note that it runs here, in place of what was known of it."""
        before, self.running = self.running, running
        self._runs.noted(self.instance, listed=before is None or before.generation != running.generation)

    def change(self, **changes: Any) -> None:
        """Change what is known of it; nothing happens when it is gone."""
        if self.running is not None:
            self.enter(replace(self.running, **changes))

    def leave(self) -> None:
        """Note that it runs here no longer."""
        if self.running is not None:
            self.running = self.meter = None
            self._runs.noted(self.instance, listed=True)

    def measure_state(self, state: types_pb2.State.ValueType) -> None:
        """Note in its metrics what it does now."""
        if self.meter is not None:
            self.meter.times.enter(state)


@dataclass(slots=True, eq=False)
class TaskStart:
    """One start of a task, from its order to its end."""

    run: TaskRun
    wanted: WantedTask
    number: int
    """Counts the starts of this worker: what an earlier one still says is dropped."""
    job: asyncio.Task[Any] | None = None
    """Its way into a host."""
    host: LaunchedHost | None = None
    """Where it was sent."""
    taken: bool = False
    """Its host has its order: the code of the task may have run."""
    failed: bool = False
    """It failed, if only in its drain."""
    hung: bool = False
    """It did not drain in time; its host is to be left."""
    settled: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once its start is over: it runs, is paused, or failed."""
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once it says, or its host's end says, that it is over."""

    @property
    def instance(self) -> Instance:
        """Connector and number of the task."""
        return self.wanted.instance

    @property
    def ref(self) -> pb.TaskRef:
        """Its name on the control stream."""
        return pb.TaskRef(
            connector=self.instance.connector,
            task=self.instance.task_number,
            generation=self.wanted.generation,
            start=self.number,
        )

    @property
    def stopping(self) -> bool:
        """Whether the task is to end, or has left."""
        return self.run.phase in (None, Phase.STOPPING)


@dataclass(slots=True)
class PlaceWait:
    """A wait for a place in a host, in one try or in several that follow each other."""

    began: float
    """Time of the event loop."""
    began_at: float
    """The same as a time of day, seconds since the epoch."""
    ended: float = math.inf
    """When the last try ended, time of the event loop."""


class TaskRun(_Run[RunningTask, TaskMeter]):
    """A task of this worker."""

    def __init__(self, instance: Instance, runs: Runs) -> None:
        super().__init__(instance, runs)
        self.start: TaskStart | None = None
        """The start under way; None when it has none, e.g. since it failed."""
        self.wait: PlaceWait | None = None
        """For a host, until it has one."""
        self.topics = SeenTopics(instance)
        self.progress = TaskProgress(
            instance,
            begin_again=partial(self.change, restart=True),
            committed=self._forget_if_over,
        )

    def begin(self, wanted: WantedTask) -> TaskStart:
        """Enter a start of the task; events of its earlier starts are ignored from now on."""
        self.start = TaskStart(self, wanted, self._runs.next_start())
        self.meter = self._runs.meter.task(self.instance)
        self.enter(
            RunningTask(
                connector_config=wanted.connector_config,
                task_config=wanted.task_config,
                partitions=wanted.partitions,
                generation=wanted.generation,
                target=wanted.target,
            )
        )
        return self.start

    def leave(self) -> None:
        """Note that it runs here no longer; it is forgotten where nothing of it counts any more."""
        super().leave()
        self._forget_if_over()

    def _forget_if_over(self) -> None:
        counts = self.running or self.start or self.wait or self.failures.any or self.progress.sending
        if not counts:
            self._runs.drop_task(self)


@dataclass(slots=True, eq=False)
class ConnectorStart:
    """A connector from its start to its stop on this worker; its object is in a process of connectors."""

    run: ConnectorRun
    config: Config
    generation: int
    incarnation: int = 0
    """Names its object in the process; 0 while it has none."""
    plugin: UsedPlugin | None = None
    """What it is made of; None until its process has said so."""
    reconfigure: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once it asks for new task configurations while it is being asked for some."""
    undivided: Trouble | None = None
    """Why its work is not divided into tasks, or what came of that not published."""
    waits: Trouble | None = None
    """What it says it waits for."""
    jobs: set[asyncio.Task[Any]] = field(default_factory=set)
    """What is being done about it."""

    @property
    def instance(self) -> Instance:
        """The connector, as an instance."""
        return self.run.instance

    @property
    def name(self) -> str:
        """Name of the connector."""
        return self.run.instance.connector

    @property
    def version(self) -> str | None:
        """Of its plugin, where that is known and has one."""
        return None if self.plugin is None else self.plugin.version

    def cancel_jobs(self) -> None:
        """Stop what is being done about it, except by the caller."""
        for job in self.jobs:
            if job is not asyncio.current_task():
                job.cancel()


class ConnectorRun(_Run[RunningConnector, ConnectorMeter]):
    """A connector of this worker."""

    def __init__(self, instance: Instance, runs: Runs) -> None:
        super().__init__(instance, runs)
        self.start: ConnectorStart | None = None
        """From its start here to its stop."""

    @property
    def under_way(self) -> ConnectorStart:
        """Return the start of a connector that is here."""
        assert self.start is not None  # from its start here to its stop
        return self.start

    def begin(self, wanted: WantedConnector) -> ConnectorStart:
        """Enter a start of the connector."""
        self.start = ConnectorStart(self, wanted.config, wanted.generation)
        self.meter = self._runs.meter.connector(wanted.name, wanted.config)
        self.enter(RunningConnector(wanted.config, wanted.generation, wanted.target))
        return self.start

    def leave(self) -> None:
        """Note that it runs here no longer; it is forgotten where nothing of it counts any more."""
        super().leave()
        self.start = None
        if not self.failures.any:
            self._runs.drop_connector(self)


class Runs:
    """The tasks and connectors of this worker; waiters hear of every change, which is noted by connector."""

    def __init__(self, changes: ChangeSignal, meter: WorkerMeter) -> None:
        self.changes = changes
        self.meter = meter
        self._connectors: dict[str, ConnectorRun] = {}
        self._tasks: dict[str, dict[Instance, TaskRun]] = {}
        self._starts = itertools.count(1)
        self.changed_connectors = ChangedConnectors()
        """Connectors of which something changed here."""
        self.lists = 0
        """How many different lists `held` has returned, or would have."""

    def task(self, instance: Instance) -> TaskRun:
        """Return a task's object, which is made where it is missing."""
        found = self.find_task(instance)
        if found is None:
            found = self._tasks.setdefault(instance.connector, {})[instance] = TaskRun(instance, self)
        return found

    def connector(self, name: str) -> ConnectorRun:
        """Return a connector's object, which is made where it is missing."""
        if name not in self._connectors:
            self._connectors[name] = ConnectorRun(Instance(name), self)
        return self._connectors[name]

    def find_task(self, instance: Instance) -> TaskRun | None:
        """Return a task's object; None where nothing is known of it here."""
        return self._tasks.get(instance.connector, {}).get(instance)

    def find(self, instance: Instance) -> TaskRun | ConnectorRun | None:
        """Return the object of a task or connector; None where nothing is known of it here."""
        if instance.task is None:
            return self._connectors.get(instance.connector)
        return self.find_task(instance)

    def start_of(self, ref: pb.TaskRef) -> TaskStart | None:
        """Return the start that an event is about; None when that is over."""
        run = self.find_task(peers.task_of(ref))
        start = None if run is None else run.start
        return start if start is not None and start.number == ref.start else None

    def connector_start(self, name: str) -> ConnectorStart | None:
        """Return the start of a connector; None when it is not here."""
        return run.start if (run := self._connectors.get(name)) is not None else None

    def of(self, connector: str) -> list[TaskRun | ConnectorRun]:
        """Return what is known here of a connector and its tasks."""
        own = self._connectors.get(connector)
        return [*((own,) if own else ()), *self._tasks.get(connector, {}).values()]

    @property
    def connectors(self) -> Sequence[ConnectorRun]:
        """All connectors of which anything is known here."""
        return tuple(self._connectors.values())

    @property
    def tasks(self) -> Iterator[TaskRun]:
        """All tasks of which anything is known here."""
        return itertools.chain.from_iterable(tasks.values() for tasks in self._tasks.values())

    def running(self, names: Iterable[str] | None = None) -> Running:
        """Return what runs now of these connectors; None is of all."""
        chosen: Sequence[str] = (
            tuple(dict.fromkeys((*self._connectors, *self._tasks))) if names is None else tuple(names)
        )
        owns = (self._connectors[name] for name in chosen if name in self._connectors)
        tasks = (task for name in chosen for task in self._tasks.get(name, {}).values())
        return Running(
            {run.instance.connector: run.running for run in owns if run.running is not None},
            {run.instance: run.running for run in tasks if run.running is not None},
        )

    def held(self) -> dict[Instance, int]:
        """Return the instances this worker runs, starts or drains, with their generations."""
        runs: Iterator[ConnectorRun | TaskRun] = itertools.chain(self._connectors.values(), self.tasks)
        return {run.instance: run.running.generation for run in runs if run.running is not None}

    @property
    def empty(self) -> bool:
        """Whether nothing runs, starts or drains here."""
        runs: Iterator[ConnectorRun | TaskRun] = itertools.chain(self._connectors.values(), self.tasks)
        return all(run.running is None for run in runs)

    def readings(self) -> Iterator[Reading]:
        """Yield the current values of all metrics of the worker, its connectors and its tasks."""
        connectors = [run.meter for run in self._connectors.values() if run.meter is not None]
        return self.meter.readings(connectors, [run.meter for run in self.tasks if run.meter is not None])

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait until a condition on what runs here holds."""
        seen_changes = self.changes.count
        while not holds():
            seen_changes = await self.changes.wait(seen_changes)

    def next_start(self) -> int:
        """Return the number of the next start of a task."""
        return next(self._starts)

    def noted(self, instance: Instance, *, listed: bool) -> None:
        """Note a change; `listed` where `held` returns another list since then."""
        self.lists += listed
        self.changed_connectors.add(instance.connector)
        self.changes.notify()

    def drop_task(self, run: TaskRun) -> None:
        """Forget a task of which nothing counts any more."""
        siblings = self._tasks.get(run.instance.connector, {})
        if siblings.get(run.instance) is run:
            del siblings[run.instance]
            if not siblings:
                del self._tasks[run.instance.connector]

    def drop_connector(self, run: ConnectorRun) -> None:
        """Forget a connector of which nothing counts any more."""
        if self._connectors.get(run.instance.connector) is run:
            del self._connectors[run.instance.connector]
