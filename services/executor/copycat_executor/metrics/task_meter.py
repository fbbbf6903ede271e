"""The metrics of one task on this worker."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from copycat.host.v1 import host_service_pb2 as pb
from copycat_connect.cluster import Instance
from copycat_telemetry.metrics import groups
from copycat_telemetry.metrics.definitions import MetricGroup, Reading, Value
from copycat_telemetry.metrics.groups import CLIENT_ID
from copycat_telemetry.metrics.sampled import Windows

from copycat_executor.metrics import statistics
from copycat_executor.metrics.states import StateTimes

SOURCE = "source"
_CLIENT_GROUPS: Final[Mapping[str, Sequence[tuple[MetricGroup, statistics.Statistics]]]] = {
    "producer": ((groups.PRODUCER, statistics.PRODUCER),),
    "consumer": (
        (groups.CONSUMER, statistics.CONSUMER),
        (groups.CONSUMER_FETCH, statistics.CONSUMER_FETCH),
    ),
}
#: States of a task in which its Kafka client is there; it goes with the run, as Kafka Connect's does.
_WITH_CLIENT: Final = frozenset({"running", "paused"})


class TaskMeter:
    """One task, from its start on this worker until it leaves."""

    def __init__(
        self,
        instance: Instance,
        windows: Windows,
        times: StateTimes,
        *,
        clock: Callable[[], float],
        wall: Callable[[], float],
    ) -> None:
        """`clock` counts seconds, `wall` is the time of day in seconds since the epoch."""
        self.instance = instance
        self.times = times
        self._clock, self._wall = clock, wall
        self._tags = {"connector": instance.connector, "task": str(instance.task_number)}
        self._measured = statistics.Measured(windows)
        self._plugins: Sequence[pb.PluginInUse] = ()
        self._failed_at = 0.0

    def made_of(self, plugins: Sequence[pb.PluginInUse]) -> None:
        """Note which plugins the task is made of; they become tags and metrics of their own."""
        self._plugins = list(plugins)

    def note(self, measures: Sequence[pb.Measure]) -> None:
        """Add what its host reported."""
        self._measured.note(self._clock(), list(measures))
        if any(measure.name == "total-record-errors" for measure in measures):
            self._failed_at = self._wall() * 1000

    def readings(self, now: float) -> Iterator[Reading]:
        """Yield the current values of all metrics of the task."""
        yield self._reading(groups.CONNECTOR_TASK, {**self._common(now), **self._made()})
        kind = next((each.type for each in self._plugins if each.type), "")
        if kind == SOURCE:
            yield self._reading(groups.SOURCE_TASK, self._measured.values(now, statistics.SOURCE))
        elif kind:
            yield self._reading(groups.SINK_TASK, self._measured.values(now, statistics.SINK))
        if self.times.state in _WITH_CLIENT and self._measured.knows(statistics.REPORTED):
            yield from self._client(now, "producer" if kind == SOURCE else "consumer")
        errors = self._measured.values(now, statistics.ERRORS)
        yield self._reading(groups.TASK_ERROR, {**errors, "last-error-timestamp": self._failed_at})
        for group in (groups.TRANSFORM, groups.PREDICATE):
            yield from self._chain(group)

    def _client(self, now: float, kind: str) -> Iterator[Reading]:
        """Yield what the task's Kafka client reports, under the client id that Kafka Connect gives it."""
        client = {CLIENT_ID: f"connector-{kind}-{self._tags['connector']}-{self._tags['task']}"}
        for group, chosen in _CLIENT_GROUPS[kind]:
            yield self._reading(group, self._measured.values(now, chosen), client)

    def _common(self, now: float) -> dict[str, Value]:
        measured, times = self._measured, self.times
        return {
            **measured.values(now, statistics.TASK),
            "status": times.state,
            "running-ratio": times.share("running", now),
            "pause-ratio": times.share("paused", now),
            "offset-commit-success-percentage": measured.share(
                now, statistics.COMMIT_TIME, statistics.COMMIT_FAILURE
            ),
            "offset-commit-failure-percentage": measured.share(
                now, statistics.COMMIT_FAILURE, statistics.COMMIT_TIME
            ),
        }

    def _made(self) -> dict[str, Value]:
        found: dict[str, Value] = {}
        for plugin in self._plugins:
            if not plugin.alias:
                found[f"{plugin.role}-class"] = plugin.class_name
                found[f"{plugin.role}-version"] = plugin.version
            if plugin.type:
                found[f"{plugin.role}-type"] = plugin.type
        return found

    def _chain(self, group: MetricGroup) -> Iterator[Reading]:
        role = group.tags[-1]
        for plugin in self._plugins:
            if plugin.role == role:
                values = {f"{role}-class": plugin.class_name, f"{role}-version": plugin.version}
                yield self._reading(group, values, {role: plugin.alias})

    def _reading(
        self, group: MetricGroup, values: Mapping[str, Value], further: Mapping[str, str] | None = None
    ) -> Reading:
        return Reading(group, {**self._tags, **(further or {})}, values)
