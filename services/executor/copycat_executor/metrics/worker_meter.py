"""The metrics of this worker, its connectors and its tasks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from copycat.host.v1 import host_service_pb2 as pb
from copycat.types.v1 import types_pb2
from copycat_connect.cluster import Instance
from copycat_telemetry.metrics import task_groups, worker_groups
from copycat_telemetry.metrics.registry import Reading, Value
from copycat_telemetry.metrics.sampled import Sampled, Windows

from copycat_executor.domain.plugin import Plugin
from copycat_executor.metrics.states import FAILED, StateTimes, state_name
from copycat_executor.metrics.task_meter import TaskMeter
from copycat_executor.state.board import Board


class _Startups:
    """Counts starts and how they ended."""

    def __init__(self, kind: str, windows: Windows) -> None:
        """`kind` is connector or task."""
        self._kind = kind
        self._successes, self._failures = 0, 0
        self._recent = Sampled(windows)

    def ended(self, now: float, *, well: bool) -> None:
        """Note the end of a start."""
        self._successes += well
        self._failures += not well
        self._recent.note(now, 1, float(well), 1.0, 1.0)

    def values(self, now: float) -> dict[str, Value]:
        """Return Kafka Connect's startup metrics by name."""
        count = self._recent.count(now)
        share = self._recent.total(now) / count if count else 0.0
        name = f"{self._kind}-startup"
        return {
            f"{name}-attempts-total": self._successes + self._failures,
            f"{name}-success-total": self._successes,
            f"{name}-failure-total": self._failures,
            f"{name}-success-percentage": share,
            f"{name}-failure-percentage": 1 - share if count else 0.0,
        }


CONNECTOR_CLASS = "connector.class"
TASK_STATES = ("running", "paused", "failed", "unassigned", "destroyed", "restarting")


class WorkerMeter:
    """Measures what happens on this worker; what left the board is no longer reported."""

    def __init__(
        self, board: Board, windows: Windows, *, clock: Callable[[], float], wall: Callable[[], float]
    ) -> None:
        """`clock` counts seconds, `wall` is the time of day in seconds since the epoch."""
        self._board = board
        self._windows = windows
        self._clock, self._wall = clock, wall
        self._tasks: dict[Instance, TaskMeter] = {}
        self._connectors: dict[str, StateTimes] = {}
        self._plugins: dict[str, Plugin] = {}
        self._startups = {kind: _Startups(kind, windows) for kind in ("connector", "task")}

    def begins(self, instance: Instance) -> None:
        """Begin to measure an instance anew, as it starts on this worker."""
        self._forget_those_gone()
        now = self._clock()
        if instance.task is None:
            self._connectors[instance.connector] = StateTimes(now)
            self._plugins.pop(instance.connector, None)
        else:
            self._tasks[instance] = TaskMeter(instance, self._windows, now)

    def state(self, instance: Instance, state: types_pb2.State.ValueType) -> None:
        """An instance is in a new state."""
        times = self._times(instance)
        if times is None:
            return
        now, name, starting = self._clock(), state_name(state), times.starting
        times.enter(name, now)
        if starting and not times.starting:
            kind = "connector" if instance.task is None else "task"
            self._startups[kind].ended(now, well=name != FAILED)

    def plugin(self, connector: str, plugin: Plugin) -> None:
        """A connector's plugin is known."""
        self._plugins[connector] = plugin

    def plugins(self, instance: Instance, plugins: Sequence[pb.PluginInUse]) -> None:
        """A task said what it is made of."""
        if instance in self._tasks:
            self._tasks[instance].made_of(plugins)

    def measured(self, instance: Instance, measures: Sequence[pb.Measure]) -> None:
        """A task said what it measured."""
        if instance in self._tasks:
            self._tasks[instance].note(self._clock(), self._wall() * 1000, measures)

    def readings(self) -> Iterator[Reading]:
        """Yield the current values of all metrics of the worker, its connectors and its tasks."""
        self._forget_those_gone()
        now, board = self._clock(), self._board
        counts: dict[str, Value] = {"connector-count": len(board.connectors), "task-count": len(board.tasks)}
        starts = [startups.values(now) for startups in self._startups.values()]
        yield Reading(worker_groups.WORKER, {}, {**counts, **starts[0], **starts[1]})
        for name, times in self._connectors.items():
            yield self._connector(name, times)
        yield from self._task_counts()
        for meter in self._tasks.values():
            yield from meter.readings(now)

    def _connector(self, name: str, times: StateTimes) -> Reading:
        plugin = self._plugins.get(name)
        values: dict[str, Value] = {"status": times.state}
        if plugin is None:
            values["connector-class"] = self._board.connectors[name].config.get(CONNECTOR_CLASS) or ""
        else:
            values["connector-class"] = plugin.class_name
            values["connector-type"] = plugin.kind
            values["connector-version"] = plugin.version or "undefined"
        return Reading(task_groups.CONNECTOR, {"connector": name}, values)

    def _task_counts(self) -> Iterator[Reading]:
        states: dict[str, Counter[str]] = {}
        for instance, meter in self._tasks.items():
            states.setdefault(instance.connector, Counter())[meter.times.state] += 1
        for connector, counted in states.items():
            each = {f"connector-{state}-task-count": counted[state] for state in TASK_STATES}
            values = {**each, "connector-total-task-count": counted.total()}
            yield Reading(worker_groups.CONNECTOR_TASKS, {"connector": connector}, values)

    def _times(self, instance: Instance) -> StateTimes | None:
        if instance.task is None:
            return self._connectors.get(instance.connector)
        meter = self._tasks.get(instance)
        return None if meter is None else meter.times

    def _forget_those_gone(self) -> None:
        for gone in self._tasks.keys() - self._board.tasks.keys():
            del self._tasks[gone]
        for left in self._connectors.keys() - self._board.connectors.keys():
            del self._connectors[left]
            self._plugins.pop(left, None)
