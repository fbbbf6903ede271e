"""What names the folders of files: the port, and by partition, by fields and by time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final, Protocol

from copycat_connect.data import ConnectValue, TopicPartition
from copycat_connect.errors import DataError

from copycat_objects.names import checked_folder
from copycat_objects.partitioners.path_format import PathFormat
from copycat_objects.partitioners.times import field_at
from copycat_objects.records import RecordColumns

_FIELD_KEY: Final = "partition.field.name"
Report = Callable[[RecordColumns, int, DataError], None]


class Partitioner(Protocol):
    """Says in which folder below that of its topic each record's file is."""

    def folders(
        self, partition: TopicPartition, records: RecordColumns, times: Sequence[int] | None, report: Report
    ) -> str | Sequence[str | None]:
        """Return the folder of all records, or one for each; None for one that was reported.

        Args:
            partition: Where they were read.
            records: The records.
            times: Their times in ms since 1970, as `timestamp.extractor` says.
            report: Takes records that have no folder.
        """


class DefaultPartitioner:
    """`partition=<number>`."""

    def folders(
        self, partition: TopicPartition, records: RecordColumns, times: Sequence[int] | None, report: Report
    ) -> str:
        """Return the folder; see the port."""
        del records, times, report
        return f"partition={partition.partition}"


class FieldPartitioner:
    """`<field>=<content>` for each field, one in the other."""

    def __init__(self, fields: Sequence[str]) -> None:
        """Divide by the content of these fields; the first is the outermost folder.

        A name with points that the value does not have leads into structs and maps.
        """
        self._fields = fields

    def folders(
        self, partition: TopicPartition, records: RecordColumns, times: Sequence[int] | None, report: Report
    ) -> Sequence[str | None]:
        """Return the folder of each; see the port."""
        del partition, times
        known: dict[tuple[ConnectValue, ...], str] = {}
        found: list[str | None] = []
        for place, value in enumerate(records.values):
            try:
                contents = tuple(field_at(value, name, _FIELD_KEY) for name in self._fields)
                key = (*contents, *map(type, contents))
                folder = known.get(key)
                if folder is None:
                    folder = known[key] = self._checked(contents)
                found.append(folder)
            except DataError as error:
                report(records, place, error)
                found.append(None)
            except TypeError as error:
                report(records, place, DataError(f"Error encoding partition: {error}"))
                found.append(None)
        return found

    def _checked(self, contents: Sequence[ConnectValue]) -> str:
        try:
            return checked_folder(self._folder(contents))
        except DataError as error:
            advice = f"Choose another field in '{_FIELD_KEY}', or mend it with a transformation"
            raise DataError(f"{error.message}. {advice}") from error

    def _folder(self, contents: Sequence[ConnectValue]) -> str:
        return "/".join(
            f"{name}={_text(name, content)}" for name, content in zip(self._fields, contents, strict=True)
        )


def _text(name: str, content: ConnectValue) -> str:
    match content:
        case bool():
            return "true" if content else "false"
        case None:
            return "null"
        case int() | str():
            return str(content)
    raise DataError(
        f"Error encoding partition: the field {name} holds a {type(content).__name__}; '{_FIELD_KEY}' takes "
        "fields of integers, strings and booleans"
    )


DAY: Final = 86_400_000
HOUR: Final = 3_600_000
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_NAIVE_EPOCH: Final = datetime(1970, 1, 1)  # noqa: DTZ001  # times as clocks in the zone show them
_KNOWN_LIMIT: Final = 10_000


class TimePartitioner:
    """One folder for each stretch of time, counted by the clocks of a time zone."""

    def __init__(self, path_format: PathFormat, duration: int, zone: tzinfo) -> None:
        """Choose how folders are written, how much time each spans, in ms, and whose clocks count."""
        self._path_format = path_format
        self._duration = duration
        self._zone = zone
        self._known: dict[int, str] = {}

    def folders(
        self, partition: TopicPartition, records: RecordColumns, times: Sequence[int] | None, report: Report
    ) -> str | Sequence[str | None]:
        """Return the folder of each, or that of all; see the port."""
        del partition
        assert times is not None  # whoever has a time partitioner has times
        found: list[str | None] = []
        for place, time in enumerate(times):
            try:
                found.append(self._folder(time))
            except (OverflowError, ValueError) as error:
                message = f"A record's time, {time} ms since 1970, is in no year from 1 to 9999: {error}"
                report(records, place, DataError(message))
                found.append(None)
        if found and found[0] is not None and found.count(found[0]) == len(found):
            return found[0]
        return found

    def _folder(self, time: int) -> str:
        # No zone changes its offset within a quarter of an hour but at its start.
        quarter = time // 900_000
        stretch = quarter if self._duration % 900_000 == 0 else time
        folder = self._known.get(stretch)
        if folder is None:
            if len(self._known) >= _KNOWN_LIMIT:
                self._known.clear()
            folder = self._known[stretch] = checked_folder(self._path_format.text(self._begin(time)))
        return folder

    def _begin(self, time: int) -> datetime:
        local = (_EPOCH + timedelta(milliseconds=time)).astimezone(self._zone)
        since = (local.replace(tzinfo=None) - _NAIVE_EPOCH) // timedelta(milliseconds=1)
        begin = _NAIVE_EPOCH + timedelta(milliseconds=since // self._duration * self._duration)
        return begin.replace(tzinfo=self._zone, fold=local.fold)
