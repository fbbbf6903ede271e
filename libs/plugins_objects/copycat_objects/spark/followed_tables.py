"""Tables of a lake as a source follows them: files of one version, those that each later one adds, and marks.

A mark is a unit without rows, whose offset says how far a table is read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Protocol

from copycat_connect.errors import ConnectError, RetriableError
from copycat_connect.plugin import SparkUnit
from copycat_connect.plugin.contexts import SourceOffset

from copycat_objects.source.choice import Picked
from copycat_objects.source.settings import DONE, STORE
from copycat_objects.spark.key_ranges import TABLE
from copycat_objects.spark.placed_rows import file_unit
from copycat_objects.stores.store import StoredFile

VERSION, SNAPSHOT = "version", "snapshot"
"""Keys of the source offset of a table, beside whether it is done."""
Version = int | str
"""Of Delta Lake the number of a version; of Iceberg the id of a snapshot, as a text."""
FileColumns = tuple[str, tuple[str, ...]]
"""What Spark reads a file with: the JSON of the file's own columns, and all of the table as SQL of these."""
#: Files of later versions that are planned at once.
_FILES_AT_ONCE: Final = 10_000


@dataclass(frozen=True, slots=True)
class TableFile:
    """A file of a table, to be read as one unit."""

    file: StoredFile
    """Where it is in the store; its size and time as the table has them."""
    picked: Picked
    """Where its records go."""
    columns: Any
    """Those of the table when the file was found, as its format has them."""
    values: tuple[str | None, ...]
    """Of each column that partitions have the value of all rows, as a text."""


class FollowedTable(Protocol):
    """A table of some format.

    All but `columns_of` is called by one thread. Each call may raise a `RetriableError` where something is
    away: the same call may work later.
    """

    name: str
    """What users call it."""
    absent: str
    """Why there was no newest version when one was last looked for, e.g. `which does not exist`."""

    def newest(self) -> Version | None:
        """Return the newest version; None where there is no table yet."""

    def whole(self) -> tuple[str, list[TableFile]] | None:
        """Return the columns that the table has now, as JSON of Spark's, and all files; None without a table.

        Raises:
            ConnectError: The table cannot be read.
        """

    def begin(self, version: Any) -> list[TableFile]:  # noqa: ANN401 - of its own kind
        """Return all files of a version, and follow the table from there.

        Raises:
            ConnectError: The table does not have that version any more, or cannot be read.
        """

    def go_on(self, version: Any) -> None:  # noqa: ANN401 - as above
        """Follow the table from a version whose files are all read.

        Raises:
            ConnectError: The table cannot be read.
        """

    def follow(self) -> tuple[Version, list[TableFile]] | None:
        """Return the next version and the files that it adds; None until there is one.

        Raises:
            ConnectError: The table does not have it any more, cannot be read, or rows were changed.
        """

    def columns_of(self, file: TableFile) -> FileColumns:
        """Return what Spark reads a file with.

        Raises:
            ConnectError: The file cannot be read as the table's columns.
        """

    def close(self) -> None:
        """Let go of what reads it, but for the store of its files."""


@dataclass(frozen=True, slots=True)
class TableVersion:
    """How far a table is read: the content of a mark."""

    version: Version
    """The newest one that is read, or that is being read."""
    done: bool
    """Whether all records up to it are committed; else reading its files has begun."""

    @classmethod
    def of(cls, offset: SourceOffset) -> TableVersion:
        """Read the offset of a table."""
        return cls(offset[VERSION] if VERSION in offset else offset[SNAPSHOT], bool(offset[DONE]))

    def offset(self) -> dict[str, Version | bool]:
        """Return the offset of the table."""
        return {SNAPSHOT if isinstance(self.version, str) else VERSION: self.version, DONE: self.done}

    def is_read(self, offset: SourceOffset | None) -> bool:
        """Return whether the committed offset of the table says so, or says that a later version is."""
        if offset is None:
            return False
        found = TableVersion.of(offset)
        if isinstance(found.version, int) and isinstance(self.version, int):
            return (found.version, found.done) >= (self.version, self.done)
        # Snapshots have no order; what is planned comes behind what is committed.
        return found.version == self.version and found.done >= self.done


@dataclass(frozen=True, slots=True)
class TableTrouble:
    """Why a table cannot be followed any further: the content of a mark, behind what can be read."""

    text: str
    """The error with which the task fails: why, and what to do."""

    def is_read(self, offset: SourceOffset | None) -> bool:
        """Return False: it stays until somebody mends it."""
        del offset
        return False


class TableUnits:
    """Plans the files of a table, between marks that say which version is read.

    The first version is noted before its files are read: after a restart a later one could have the same rows
    in other files.
    """

    def __init__(self, table: FollowedTable, store: str, key: str, *, follows: bool = True) -> None:
        """Plan from what is committed, of one version or of it and all later ones (`follows`).

        Args:
            table: The table.
            store: The name of the store with its files.
            key: What names the table in its source partition.
            follows: Whether later versions are read.
        """
        self.partition = {STORE: store, TABLE: key}
        self.table = table
        self._store, self._follows = store, follows
        self._is_begun = self._is_over = False

    @property
    def missing(self) -> str | None:
        """What is waited for, while there is no table."""
        return None if self._is_begun else f"table {self.table.name}, {self.table.absent}"

    def plan(self, offset: Callable[[], SourceOffset | None]) -> list[SparkUnit]:
        """Return what comes next.

        Args:
            offset: Returns the committed offset of the table; asked once.

        Raises:
            ConnectError: The table cannot be read.
        """
        if self._is_over:
            return []
        return self._later() if self._is_begun else self._first(offset())

    def _first(self, offset: SourceOffset | None) -> list[SparkUnit]:
        units = []
        if offset is None:
            version = self.table.newest()
            if version is None:
                return []
            begun = TableVersion(version, done=False)
            units.append(self._mark(begun))
        else:
            begun = TableVersion.of(offset)
        if begun.done:
            self.table.go_on(begun.version)
        else:
            units += map(partial(file_unit, self._store), self.table.begin(begun.version))
            units.append(self._mark(TableVersion(begun.version, done=True)))
        self._is_begun = True  # not before: the store may be away, and all of this be done again
        self._is_over = not self._follows
        return units

    def _later(self) -> list[SparkUnit]:
        units = list[SparkUnit]()
        read: Version | None = None
        try:
            while len(units) < _FILES_AT_ONCE and (found := self.table.follow()) is not None:
                read, files = found
                units += map(partial(file_unit, self._store), files)
        except RetriableError:
            if read is None:
                raise
        except ConnectError as error:
            self._is_over = True
            return [*units, *self._done(read), self._mark(TableTrouble(str(error)))]
        return [*units, *self._done(read)]

    def _done(self, version: Version | None) -> list[SparkUnit]:
        return [] if version is None else [self._mark(TableVersion(version, done=True))]

    def _mark(self, content: TableVersion | TableTrouble) -> SparkUnit:
        return SparkUnit(self.partition, self.table.name, content, is_mark=True)


def constant(value: str | None, kind: str) -> str:
    """Return the SQL of a value that all rows of a file have, of a type by Spark's name."""
    if value is None:
        return f"CAST(NULL AS {kind})"
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"CAST('{escaped}' AS {kind})"


def check_table_offset(
    partition: Mapping[str, Any], offset: SourceOffset | None, *, of_snapshots: bool
) -> None:
    """Accept the offset of a table of Delta Lake, or of Iceberg (`of_snapshots`).

    Raises:
        ConnectError: It is malformed.
    """
    if set(partition) != {STORE, TABLE} or not all(isinstance(each, str) for each in partition.values()):
        raise ConnectError(f"The partition of a table has the keys '{STORE}' and '{TABLE}', both Strings")
    if offset is None:
        return
    key, said = (SNAPSHOT, "its id as a String") if of_snapshots else (VERSION, "a number from 0 up")
    version, done = offset.get(key), offset.get(DONE)
    kind = str if of_snapshots else int
    if set(offset) != {key, DONE} or not isinstance(version, kind) or not isinstance(done, bool):
        raise ConnectError(f"The offset of a table has the keys '{key}', {said}, and '{DONE}', true or false")
    if not str(version).isdecimal():
        raise ConnectError(f"The value for the '{key}' key in the offset should be {said}")
