"""What a metric is: group, name, kind, text; and those of a process, read when somebody asks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum, auto
from functools import cached_property
from typing import TypeAlias


class MetricKind(Enum):
    """How a metric's values are to be read."""

    GAUGE = auto()
    """A number that rises and falls."""
    TOTAL = auto()
    """A number that rises from 0 until its owner starts again."""
    TEXT = auto()
    """A word or a name."""


@dataclass(frozen=True, slots=True)
class Metric:
    """One attribute of a group."""

    name: str
    """Kafka's name, with hyphens."""
    kind: MetricKind
    """How to read it."""
    doc: str
    """What it says, with its unit."""


@dataclass(frozen=True)
class MetricGroup:
    """Metrics that are reported together and carry the same tags; a Kafka MBean type."""

    name: str
    """Kafka's name of the type, with hyphens."""
    tags: tuple[str, ...]
    """Names of the tags that identify one instance, in the order of the MBean."""
    metrics: tuple[Metric, ...]
    """All it has; an instance may lack some."""
    domain: str = "kafka.connect"
    """Kafka's JMX domain."""

    @property
    def full_name(self) -> str:
        """The domain and the name, which distinguish groups in every format."""
        return f"{self.domain}.{self.name}"

    @cached_property
    def by_name(self) -> dict[str, Metric]:
        """The metrics by their names."""
        return {metric.name: metric for metric in self.metrics}


def gauge(name: str, doc: str) -> Metric:
    """Define a number that rises and falls."""
    return Metric(name, MetricKind.GAUGE, doc)


def total(name: str, doc: str) -> Metric:
    """Define a number that only rises."""
    return Metric(name, MetricKind.TOTAL, doc)


def text(name: str, doc: str) -> Metric:
    """Define a metric whose value is a word, such as a state or a version."""
    return Metric(name, MetricKind.TEXT, doc)


Value: TypeAlias = float | str


@dataclass(frozen=True, slots=True)
class Reading:
    """One instance of a group as it is now."""

    group: MetricGroup
    """Value of each metric, by name."""
    tags: Mapping[str, str]
    """Which instance; the keys are the group's."""
    values: Mapping[str, Value]
    """By the metrics' names: text for those of kind TEXT, numbers for all others."""


Source: TypeAlias = Callable[[], Iterable[Reading]]


class MetricsRegistry:
    """The sources of metrics in a process."""

    def __init__(self) -> None:
        self._sources: list[Source] = []

    @contextmanager
    def reading_from(self, source: Source) -> Iterator[None]:
        """Ask `source` at every reading while the block runs, and no longer (KRETRY-24)."""
        self._sources.append(source)
        try:
            yield
        finally:
            self._sources.remove(source)

    def read(self) -> list[Reading]:
        """Return the current readings of all sources."""
        return [reading for source in tuple(self._sources) for reading in source()]
