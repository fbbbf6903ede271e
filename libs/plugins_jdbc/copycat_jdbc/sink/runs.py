"""Runs: neighbouring records of a batch that go to one table, with the same columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from copycat_connect.data import ConnectValue, Schema, SchemaType, SinkBatch, Struct
from copycat_connect.errors import ConnectError, DataError

from copycat_jdbc.sink.layout import ColumnLayout, layout_of
from copycat_jdbc.sink.settings import (
    DELETE_ENABLED,
    PK_MODE,
    TOPIC_PLACEHOLDER,
    JdbcSinkSettings,
)

_MOST_KNOWN = 1000


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """Records of a batch from `start` to before `stop`."""

    records: SinkBatch
    start: int
    stop: int
    table: str
    """Name of the table as configured, with the topic filled in."""
    layout: ColumnLayout
    """Their columns."""
    deletes: bool
    """True when they delete rows; the columns are those of the key then."""

    def part(self, start: int, stop: int) -> Run:
        """Return a part; places count within the batch."""
        return Run(self.records, start, stop, self.table, self.layout, self.deletes)

    def columns(self) -> list[tuple[ConnectValue, ...] | list[ConnectValue]]:
        """Return the values of each column."""
        return [
            each if isinstance(each, (tuple, list)) else [*each]
            for each in self.layout.take(self.records, self.start, self.stop)
        ]


@dataclass(frozen=True, slots=True, eq=False)
class WrongRun:
    """Records that cannot be written, whatever the table is."""

    records: SinkBatch
    start: int
    stop: int
    error: ConnectError
    """Why."""


class RecordRuns:
    """Divides batches; remembers the columns of the schemas that it has seen."""

    def __init__(self, settings: JdbcSinkSettings) -> None:
        """Use what the user wants."""
        self._settings = settings
        # By identity, which is quick: a converter makes each schema once. The schemas are kept, so that no
        # other object can have their numbers.
        self._known: dict[tuple[str, int, int], tuple[ColumnLayout, Schema | None, Schema | None]] = {}

    def of(self, records: SinkBatch) -> Iterator[Run | WrongRun]:
        """Divide a batch, in order."""
        count = len(records)
        schemas = records.value_schemas
        columns = [records.topics, [*map(id, schemas)], [*map(type, records.values)]]
        if self._settings.by_key:
            columns += [[*map(id, records.key_schemas)], [*map(type, records.keys)]]
        marks = [*zip(*columns, strict=True)]
        if count and marks.count(marks[0]) == count:
            yield self._run(records, 0, count)
            return
        start = 0
        for _, group in groupby(marks):
            stop = start + len([*group])
            yield self._run(records, start, stop)
            start = stop

    def _run(self, records: SinkBatch, start: int, stop: int) -> Run | WrongRun:
        try:
            deletes = self._check(records, start)
            table = self._settings.table_name_format.replace(TOPIC_PLACEHOLDER, records.topics[start])
            key_schema = records.key_schemas[start] if self._settings.by_key else None
            value_schema = None if deletes else records.value_schemas[start]
            return Run(records, start, stop, table, self._layout(table, key_schema, value_schema), deletes)
        except DataError as error:
            return WrongRun(records, start, stop, error)

    def _layout(self, table: str, key_schema: Schema | None, value_schema: Schema | None) -> ColumnLayout:
        mark = (table, id(key_schema), id(value_schema))
        found = self._known.get(mark)
        if found is None:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            found = layout_of(self._settings, table, key_schema, value_schema), key_schema, value_schema
            self._known[mark] = found
        return found[0]

    def _check(self, records: SinkBatch, place: int) -> bool:
        """Return whether a record deletes.

        Raises:
            DataError: It lacks what the configuration needs.
        """
        value, schema, settings = records.values[place], records.value_schemas[place], self._settings
        if settings.by_key:
            self._check_key(records, place)
        if value is None and settings.delete_enabled:
            return True
        fits = (
            isinstance(value, Struct)
            if schema is None or schema.type is not SchemaType.STRING
            else isinstance(value, str)
        )
        if not fits or schema is None:
            what = "non-null Struct value and non-null Struct value schema"
            raise DataError(
                self._requires(
                    records, place, what, f"{_shown(value)} value and {_kind(schema)} value schema"
                )
            )
        return False

    def _check_key(self, records: SinkBatch, place: int) -> None:
        key, schema = records.keys[place], records.key_schemas[place]
        allowed = schema is not None and (schema.type.is_primitive or schema.type is SchemaType.STRUCT)
        if key is None or not allowed:
            what = "non-null key and non-null Struct or primitive key schema"
            raise DataError(
                self._requires(records, place, what, f"{_shown(key)} key and {_kind(schema)} key schema")
            )

    def _requires(self, records: SinkBatch, place: int, what: str, found: str) -> str:
        settings, record = self._settings, records[place]
        deletes = f"'{DELETE_ENABLED}={str(settings.delete_enabled).lower()}'"
        modes = f"{deletes} and '{PK_MODE}={settings.pk_mode}'"
        place_of = (
            f"(topic='{record.topic}',partition={record.kafka_partition},offset={record.offset},"
            f"timestamp={record.timestamp})"
        )
        return (
            f"Sink connector '{settings.connector}' is configured with {modes} and therefore requires "
            f"records with a {what}, but found record at {place_of} with a {found}."
        )


def _shown(value: ConnectValue) -> str:
    return "null" if value is None else type(value).__name__


def _kind(schema: Schema | None) -> str:
    return "null" if schema is None else str(schema.type)
