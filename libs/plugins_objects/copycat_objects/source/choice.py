"""Which files are read, by which task, as what, and in which order."""

from __future__ import annotations

import re
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

from copycat_connect.config.user_pattern import compile_user_pattern

from copycat_objects.formats.opening import format_of
from copycat_objects.names import OWN_FOLDER, TEMPORARY
from copycat_objects.source.settings import AUTO, PATTERN, CleanupPolicy
from copycat_objects.stores.store import Store, StoredFile

_NOT_READ = frozenset({TEMPORARY, OWN_FOLDER})
_HIDDEN = (".", "_")
_ANY_TOPIC = "${topic}"
#: Names as the object sinks write them, with the last offset or without.
_OF_SINK = re.compile(r"(?P<topic>[a-zA-Z0-9._-]+)\+(?P<partition>\d+)\+(?P<start>\d+)(\+\d+)?(\..*)?")


@dataclass(frozen=True, slots=True, order=True)
class Rank:
    """Files are read in this order."""

    topic: str
    """The topic in the name, or nothing."""
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


class FilesWanted(Protocol):
    """What the settings of a source of files say about which of them it reads."""

    @property
    def prefix(self) -> str:
        """Only files in this folder, or further below."""

    @property
    def pattern(self) -> str:
        """Regular expression for the whole path."""

    @property
    def format(self) -> str:
        """What files are read as; `auto` goes by the end of a name."""

    @property
    def topic(self) -> str:
        """The Kafka topic that receives the records."""

    @property
    def cleanup_policy(self) -> CleanupPolicy:
        """What becomes of a file whose records are committed."""

    @property
    def cleanup_folder(self) -> str:
        """Where read files are moved to."""


class StoreFileChoice:
    """Looks at paths alone; the same for every task but for its share."""

    def __init__(self, settings: FilesWanted, task: int, tasks: int) -> None:
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
        if name.startswith(_HIDDEN) or not _NOT_READ.isdisjoint(folders.split("/")):
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


@dataclass(frozen=True, slots=True)
class Found:
    """A file to read."""

    file: StoredFile
    """What the store says of it."""
    picked: Picked
    """What is to be done with it."""


class StoreListing:
    """Goes through a store again and again, and returns what it has not returned before."""

    def __init__(
        self,
        store: Store,
        choice: StoreFileChoice,
        min_age_millis: int,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Begin with nothing known; the clock gives seconds since 1970."""
        self._store = store
        self._choice = choice
        self._min_age_millis = min_age_millis
        self._clock = clock
        self._known: dict[str, StoredFile] = {}
        self._seen: dict[str, StoredFile] = {}
        self._new: list[Found] = []
        self._files: Iterator[StoredFile] | None = None
        self._any = False
        self.missing: str | None = None
        """The folder that is looked through, where it does not exist."""

    def advance(self, seconds: float) -> list[Found] | None:
        """Look for about so long; return the new files, in order, when the end is reached.

        Raises:
            ConnectError: The store's errors; the next call begins again.
        """
        if self._files is None:
            self._files, self._seen, self._new = self._store.list(self._choice.prefix), {}, []
            self._any = False
        until = time.monotonic() + seconds
        try:
            for file in self._files:
                self._any = True
                self._look_at(file)
                if time.monotonic() > until:
                    return None
        except BaseException:
            self._files = None
            raise
        self._files, self._known = None, self._seen
        self.missing = None if self._any or self._store.has_folder(self._choice.prefix) else self._place()
        return sorted(self._new, key=lambda found: found.picked.rank)

    def _place(self) -> str:
        return "/".join(part for part in (self._store.name, self._choice.prefix) if part)

    def _look_at(self, file: StoredFile) -> None:
        picked = self._choice.pick(file.path)
        if picked is None or self._is_young(file):
            return
        self._seen[file.path] = file
        if self._known.get(file.path) != file:
            self._new.append(Found(file, picked))

    def _is_young(self, file: StoredFile) -> bool:
        return self._min_age_millis > 0 and self._clock() * 1000 - file.modified_millis < self._min_age_millis
