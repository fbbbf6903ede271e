"""What a task of an object sink has to do: when files are complete, and what a change of schema means."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from enum import Enum
from typing import Final

from copycat_connect.data import ConnectValue, Schema, SchemaType
from copycat_connect.data.projection import project
from copycat_connect.errors import DataError

from copycat_objects.formats.format import Format
from copycat_objects.names import FileLayout
from copycat_objects.partitioners.partitioner import Partitioner
from copycat_objects.partitioners.times import RecordTimes
from copycat_objects.stores.store import Store

NEVER: Final = -1


@dataclass(frozen=True, slots=True)
class SinkSettings:
    """A configuration, understood."""

    connector: str
    """Its name."""
    open_store: Callable[[], Store]
    """Connects to the store."""
    layout: FileLayout
    """Where files lie."""
    format: Format
    """How they are written."""
    partitioner: Partitioner
    """Their folders."""
    times: RecordTimes
    """The records' times."""
    rotation: Rotation
    """When they are complete."""
    compatibility: Compatibility
    """What a change of schema means."""
    null_values: str
    """What becomes of records whose value is null: `fail`, `ignore` or `write`."""
    retry_seconds: float
    """How long to wait before the store is tried again."""
    logged: bool = True
    """True: files appear with an entry of a commit log. False: each in its place, when it is complete."""


@dataclass(frozen=True, slots=True)
class Rotation:
    """All files of a topic-partition are complete as soon as one of these says so."""

    records: int
    """How many records they have together, at the most."""
    bytes: int = NEVER
    """How many bytes they have together, about."""
    interval: int = NEVER
    """How long after the first record's time the last one's may be, in ms."""
    schedule: int = NEVER
    """How often by the clock, in ms from midnight."""
    zone: tzinfo | None = None
    """Whose midnight."""
    quiet: bool = True
    """Whether files are complete after the interval by the clock, too, though no more records come."""
    by_folder: bool = False
    """Whether a record of another folder than the last one's ends the files."""

    def cut(self, times: Sequence[int] | None, start: int, end: int, first: int | None) -> int:
        """Return where the interval ends among records `start` to `end`; `end` where it does not.

        `first` is the time of the files' first record; None when they have none.
        """
        if self.interval < 0 or times is None:
            return end
        begin = times[start] if first is None else first
        limit = begin + self.interval
        return next((place for place in range(start, end) if times[place] >= limit), end)

    def cut_folders(
        self, folders: str | Sequence[str | None], start: int, end: int, current: str | None
    ) -> int:
        """Return where among records `start` to `end` another folder begins; `end` where none does.

        `current` is the folder of the files' last record; None when they have none.
        """
        if not self.by_folder:
            return end
        if isinstance(folders, str):
            return end if current in (None, folders) else start
        for place in range(start, end):
            folder = folders[place]
            if folder is not None and current is not None and folder != current:
                return place
            current = folder or current
        return end

    def deadline(self, opened: float) -> float:
        """Return the time by the clock when files opened at a time are complete; times in s since 1970."""
        found = float("inf")
        if self.schedule > 0:
            found = self._scheduled(opened)
        if self.interval >= 0 and self.quiet:
            found = min(found, opened + self.interval / 1000)
        return found

    def _scheduled(self, opened: float) -> float:
        local = datetime.fromtimestamp(opened, self.zone)
        midnight = local.replace(hour=0, minute=0, second=0, microsecond=0)
        period = timedelta(milliseconds=self.schedule)
        return (midnight + ((local - midnight) // period + 1) * period).timestamp()


class Compatibility(Enum):
    """Which schemas go into one file."""

    NONE = "NONE"
    """Only equal ones."""
    BACKWARD = "BACKWARD"
    """Older ones too, whose records are written as the newer schema has them."""
    FORWARD = "FORWARD"
    """Newer ones too, whose records are written as the older schema has them."""
    FULL = "FULL"
    """Like BACKWARD."""

    def rotates(self, current: Schema | None, record: Schema | None) -> bool:
        """Return whether a record of another schema begins new files.

        Raises:
            DataError: Only one of both has a schema, or there are no versions to compare.
        """
        if current is record or current == record:
            return False
        if current is None or record is None:
            raise DataError("Switch between schema-based and schema-less data is not supported")
        if self is Compatibility.NONE:
            return True
        if _differs(record, current):
            return True
        if current.version is None or record.version is None:
            raise DataError(
                f"Schema version required for 'schema.compatibility={self.value}': give schemas a version "
                "or set it to NONE"
            )
        if self is Compatibility.FORWARD:
            return record.version < current.version
        return record.version > current.version


def projected(
    source: Schema | None, values: Sequence[ConnectValue], target: Schema | None
) -> list[ConnectValue]:
    """Return values as the schema of the file has them.

    Raises:
        DataError: One of them cannot be written so.
    """
    if source is target or source == target:
        return list(values)
    return [project(source, value, target) for value in values]


def _differs(source: Schema, target: Schema) -> bool:
    """Return whether records of a schema cannot be written as the other one has them."""
    if source.type is not target.type or source.name != target.name or source.parameters != target.parameters:
        return True
    if source.optional and not target.optional and target.default is None:
        return True
    if source.type is SchemaType.STRUCT:
        return any(_field_differs(source, field.name, field.schema) for field in target.field_list)
    pairs = ((source.key, target.key), (source.value, target.value))
    return any(one is not None and other is not None and _differs(one, other) for one, other in pairs)


def _field_differs(source: Schema, name: str, wanted: Schema) -> bool:
    found = source.field(name)
    if found is None:
        return not wanted.optional and wanted.default is None
    return _differs(found.schema, wanted)
