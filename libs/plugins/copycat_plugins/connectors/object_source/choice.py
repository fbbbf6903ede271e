"""Which files are read, by which task, as what, and in which order."""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass

from copycat_connect.config.user_pattern import compile_user_pattern

from copycat_plugins.connectors.object_source.settings import (
    AUTO,
    PATTERN,
    CleanupPolicy,
    ObjectSourceSettings,
)
from copycat_plugins.connectors.objects.formats.opening import format_of

_TEMPORARY = "+tmp"
_HIDDEN = (".", "_")
_ANY_TOPIC = "${topic}"
#: Names as the object sinks write them, with the last offset or without.
_OF_SINK = re.compile(r"(?P<topic>[a-zA-Z0-9._-]+)\+(?P<partition>\d+)\+(?P<start>\d+)(\+\d+)?(\..*)?")


@dataclass(frozen=True, slots=True, order=True)
class Rank:
    """Files are read in this order."""

    topic: str
    """The topic in the name, empty where there is none."""
    partition: int
    """Its partition."""
    start: int
    """The offset of the first record."""
    path: str
    """The path."""


@dataclass(frozen=True, slots=True)
class Picked:
    """A file that is to be read."""

    rank: Rank
    """Its place in the order."""
    format: str
    """What it is read as."""
    topic: str
    """Where its records go."""


class Choice:
    """Looks at paths alone; the same for every task but for its share."""

    def __init__(self, settings: ObjectSourceSettings, task: int, tasks: int) -> None:
        """Choose as the settings say, for one of so many tasks."""
        self.prefix = settings.prefix.strip("/")
        self._pattern = compile_user_pattern(PATTERN, settings.pattern)
        self._format, self._topic = settings.format, settings.topic
        self._processed = f"{settings.cleanup_folder}/"
        self._leaves_out_processed = settings.cleanup_policy is CleanupPolicy.MOVE
        self._task, self._tasks = task, tasks

    def pick(self, path: str) -> Picked | None:
        """Return what is to be done with a file; None where this task has nothing to do with it."""
        folders, _, name = path.rpartition("/")
        if name.startswith(_HIDDEN) or _TEMPORARY in folders.split("/"):
            return None
        if self._leaves_out_processed and path.startswith(self._processed):
            return None
        if self._pattern.fullmatch(path) is None:
            return None
        found = _OF_SINK.fullmatch(name)
        rank = Rank("", 0, 0, path)
        if found is not None:
            rank = Rank(found["topic"], int(found["partition"]), int(found["start"]), path)
        kind = format_of(path) if self._format == AUTO else self._format
        if kind is None or (_ANY_TOPIC in self._topic and not rank.topic) or not self._is_mine(rank):
            return None
        return Picked(rank, kind, self._topic.replace(_ANY_TOPIC, rank.topic))

    def _is_mine(self, rank: Rank) -> bool:
        """Divide files by their names; those of one topic-partition stay together, in their order."""
        group = f"{rank.topic}+{rank.partition}" if rank.topic else rank.path
        return zlib.crc32(group.encode()) % self._tasks == self._task
