"""The metrics of this worker and its connectors, and where those of its tasks begin."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from copycat_connect.cluster import Config, Instance
from copycat_telemetry.metrics import groups
from copycat_telemetry.metrics.definitions import Reading, Value
from copycat_telemetry.metrics.sampled import Windows

from copycat_executor.domain.running import UsedPlugin
from copycat_executor.metrics.states import Startups, StateTimes
from copycat_executor.metrics.task_meter import TaskMeter

CONNECTOR_CLASS = "connector.class"
TASK_STATES = ("running", "paused", "failed", "unassigned", "destroyed", "restarting")


class ConnectorMeter:
    """One connector, from its start on this worker until it leaves."""

    def __init__(self, name: str, config: Config, times: StateTimes) -> None:
        self._name = name
        self._config = config
        self.times = times
        self.plugin: UsedPlugin | None = None
        """What the connector is made of; None until its process has said so."""

    def reading(self) -> Reading:
        """Return the current values of its metrics."""
        values: dict[str, Value] = {"status": self.times.state}
        if self.plugin is None:
            values["connector-class"] = self._config.get(CONNECTOR_CLASS) or ""
        else:
            values["connector-class"] = self.plugin.class_name
            values["connector-type"] = self.plugin.kind
            values["connector-version"] = self.plugin.version or "undefined"
        return Reading(groups.CONNECTOR, {"connector": self._name}, values)


class WorkerMeter:
    """Begins to measure what starts on this worker, and reads what runs here."""

    def __init__(self, windows: Windows, *, clock: Callable[[], float], wall: Callable[[], float]) -> None:
        """`clock` counts seconds, `wall` is the time of day in seconds since the epoch."""
        self._windows = windows
        self._clock, self._wall = clock, wall
        self._connector_starts, self._task_starts = Startups("connector", windows), Startups("task", windows)

    def connector(self, name: str, config: Config) -> ConnectorMeter:
        """Begin to measure a connector, as it starts on this worker."""
        return ConnectorMeter(name, config, StateTimes(self._clock, self._connector_starts))

    def task(self, instance: Instance) -> TaskMeter:
        """Begin to measure a task, as it starts on this worker."""
        times = StateTimes(self._clock, self._task_starts)
        return TaskMeter(instance, self._windows, times, clock=self._clock, wall=self._wall)

    def readings(self, connectors: Sequence[ConnectorMeter], tasks: Sequence[TaskMeter]) -> Iterator[Reading]:
        """Yield the current values of all metrics of the worker, its connectors and its tasks."""
        now = self._clock()
        counts: dict[str, Value] = {"connector-count": len(connectors), "task-count": len(tasks)}
        starts = {**self._connector_starts.values(now), **self._task_starts.values(now)}
        yield Reading(groups.WORKER, {}, {**counts, **starts})
        for connector in connectors:
            yield connector.reading()
        yield from _task_counts(tasks)
        for task in tasks:
            yield from task.readings(now)


def _task_counts(tasks: Sequence[TaskMeter]) -> Iterator[Reading]:
    states: dict[str, Counter[str]] = {}
    for task in tasks:
        states.setdefault(task.instance.connector, Counter())[task.times.state] += 1
    for connector, counted in states.items():
        each = {f"connector-{state}-task-count": counted[state] for state in TASK_STATES}
        values = {**each, "connector-total-task-count": counted.total()}
        yield Reading(groups.CONNECTOR_TASKS, {"connector": connector}, values)
