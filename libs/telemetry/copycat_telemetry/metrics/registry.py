"""The metrics of a process, read when somebody asks and at no other time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeAlias

from copycat_telemetry.metrics.definitions import MetricGroup

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


class Registry:
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
