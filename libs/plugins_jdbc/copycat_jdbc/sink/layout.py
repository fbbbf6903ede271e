"""Which columns the records of one pair of schemas have, and where each column's values come from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from functools import cached_property
from operator import attrgetter

from copycat_connect.data import (
    INT32_SCHEMA,
    INT64_SCHEMA,
    STRING_SCHEMA,
    ConnectValue,
    Schema,
    SchemaType,
    SinkBatch,
    SinkRecord,
    Struct,
)
from copycat_connect.data.logical import TIMESTAMP
from copycat_connect.errors import DataError

from copycat_jdbc.settings import spelling
from copycat_jdbc.sink.settings import PK_FIELDS, JdbcSinkSettings, PkMode

KAFKA_COLUMNS = ("__connect_topic", "__connect_partition", "__connect_offset")


class Origin(Enum):
    """What of a record a column holds."""

    TOPIC = auto()
    PARTITION = auto()
    OFFSET = auto()
    KEY = auto()
    KEY_FIELD = auto()
    VALUE = auto()
    VALUE_FIELD = auto()


@dataclass(frozen=True, slots=True)
class SinkColumn:
    """One column that records are written to."""

    name: str
    """Its name."""
    schema: Schema
    """Schema of its values."""
    is_key: bool
    """True when it is part of the row's key."""
    origin: Origin
    """What of a record it holds."""
    place: int = 0
    """The field's place, where it holds a field."""

    @property
    def optional(self) -> bool:
        """True when null may be written."""
        return self.schema.optional and not self.is_key


@dataclass(frozen=True, slots=True, eq=False)
class ColumnLayout:
    """The columns of records with one pair of schemas."""

    columns: tuple[SinkColumn, ...]
    """All of them, in the order of a new table."""
    replaces_null: bool
    """Whether null becomes the schema's default."""

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return [column.name for column in self.columns]

    @property
    def keys(self) -> list[SinkColumn]:
        """The columns that make the row's key."""
        return [column for column in self.columns if column.is_key]

    def take(self, records: SinkBatch, start: int, stop: int) -> list[Sequence[ConnectValue]]:
        """Return the values of each column for the records from `start` to before `stop`."""
        part = _Part(records, start, stop)
        taken: list[Sequence[ConnectValue]] = []
        for column in self.columns:
            found = part.column(column)
            default = column.schema.default
            if default is not None and self.replaces_null:
                found = [default if value is None else value for value in found]
            taken.append(found)
        return taken


class _Part:
    """Part of a batch; structs are taken apart once."""

    def __init__(self, records: SinkBatch, start: int, stop: int) -> None:
        self._records = records
        self._range = slice(start, stop)

    @cached_property
    def _of_values(self) -> list[Sequence[ConnectValue]]:
        return _columns(self._records.values[self._range])

    @cached_property
    def _of_keys(self) -> list[Sequence[ConnectValue]]:
        return _columns(self._records.keys[self._range])

    def column(self, column: SinkColumn) -> Sequence[ConnectValue]:
        """Return the values of a column."""
        match column.origin:
            case Origin.VALUE_FIELD:
                return self._of_values[column.place]
            case Origin.KEY_FIELD:
                return self._of_keys[column.place]
            case Origin.VALUE:
                return self._records.values[self._range]
            case Origin.KEY:
                return self._records.keys[self._range]
            case _:
                of_record = _COORDINATES[column.origin]
                return [of_record(record) for record in self._records[self._range]]


_COORDINATES: Mapping[Origin, Callable[[SinkRecord], ConnectValue]] = {
    Origin.TOPIC: attrgetter("topic"),
    Origin.PARTITION: attrgetter("kafka_partition"),
    Origin.OFFSET: attrgetter("offset"),
}


def layout_of(
    settings: JdbcSinkSettings, table: str, key_schema: Schema | None, value_schema: Schema | None
) -> ColumnLayout:
    """Return the columns for a pair of schemas; `value_schema` is None for records that delete.

    Raises:
        DataError: The schemas do not go with the configuration.
    """
    folded = settings.folded
    keys = _distinct(table, _key_columns(settings, table, key_schema, value_schema), folded)
    named = dict(keys)
    order = [*keys] if settings.pk_mode == PkMode.KAFKA else []
    for name, column in _distinct(table, _value_columns(settings, value_schema), folded).items():
        if name not in named:
            if not settings.is_written(column.name):
                continue
            named[name] = column
        order.append(name)
    order += sorted({*named} - {*order})
    if not order:
        raise DataError(f"No fields found using key and value schemas for table: {table}")
    return ColumnLayout(tuple(named[name] for name in order), settings.replace_null_with_default)


def _distinct(
    table: str, columns: Sequence[SinkColumn], folded: Callable[[str], str]
) -> dict[str, SinkColumn]:
    """Return columns by what all spellings of a name become.

    Raises:
        DataError: The database takes two of them for one.
    """
    found: dict[str, SinkColumn] = {}
    for column in columns:
        other = found.setdefault(folded(column.name), column)
        if other is not column:
            raise DataError(
                f"Fields {other.name} and {column.name} are one column for the database of table {table}: "
                "give one another name by a transformation (ReplaceField)"
            )
    return found


def _key_columns(
    settings: JdbcSinkSettings, table: str, key_schema: Schema | None, value_schema: Schema | None
) -> list[SinkColumn]:
    match settings.pk_mode:
        case PkMode.KAFKA:
            return _kafka_columns(settings, table)
        case PkMode.RECORD_KEY:
            return _record_key_columns(settings, table, key_schema)
        case PkMode.RECORD_VALUE:
            return _record_value_columns(settings, table, value_schema)
        case _:
            return []


def _kafka_columns(settings: JdbcSinkSettings, table: str) -> list[SinkColumn]:
    names = settings.pk_fields or KAFKA_COLUMNS
    if len(names) != len(KAFKA_COLUMNS):
        raise DataError(
            f"PK mode for table '{table}' is kafka, so {PK_FIELDS} must be empty, or name three columns "
            f"for topic, partition and offset; it names {', '.join(names)}"
        )
    schemas = (STRING_SCHEMA, INT32_SCHEMA, INT64_SCHEMA)
    origins = (Origin.TOPIC, Origin.PARTITION, Origin.OFFSET)
    return [
        SinkColumn(name, schema, True, origin)
        for name, schema, origin in zip(names, schemas, origins, strict=True)
    ]


def _record_key_columns(settings: JdbcSinkSettings, table: str, schema: Schema | None) -> list[SinkColumn]:
    if schema is None:
        raise DataError(f"PK mode for table '{table}' is record_key, but record key schema is missing")
    if schema.type.is_primitive:
        if len(settings.pk_fields) != 1:
            raise DataError(
                "Need exactly one PK column defined since the key schema for records is a primitive type, "
                f"defined columns are: [{', '.join(settings.pk_fields)}] ({PK_FIELDS})"
            )
        return [SinkColumn(settings.pk_fields[0], schema, True, Origin.KEY)]
    if schema.type is not SchemaType.STRUCT:
        raise DataError(f"Key schema must be primitive type or Struct, but is of type: {schema.type}")
    return _fields(settings, table, schema, "key", Origin.KEY_FIELD)


def _record_value_columns(settings: JdbcSinkSettings, table: str, schema: Schema | None) -> list[SinkColumn]:
    if schema is None or schema.type is not SchemaType.STRUCT:
        raise DataError(f"PK mode for table '{table}' is record_value, but record value schema is no struct")
    return _fields(settings, table, schema, "value", Origin.VALUE_FIELD)


def _fields(
    settings: JdbcSinkSettings, table: str, schema: Schema, side: str, origin: Origin
) -> list[SinkColumn]:
    columns = []
    names = [field.name for field in schema.field_list]
    for name in settings.pk_fields or names:
        field = schema.field(spelling(name, names, settings.folded) or "")
        if field is None:
            raise DataError(
                f"PK mode for table '{table}' is record_{side} with configured PK fields "
                f"[{', '.join(settings.pk_fields)}], but record {side} schema does not contain field: {name}"
            )
        columns.append(SinkColumn(field.name, field.schema, True, origin, field.index))
    return columns


def _value_columns(settings: JdbcSinkSettings, schema: Schema | None) -> list[SinkColumn]:
    if schema is None:
        return []
    if schema.type is SchemaType.STRING:
        return [SinkColumn(settings.string_output_value_column_name, schema, False, Origin.VALUE)]
    return [
        SinkColumn(
            field.name,
            replace(field.schema, name=TIMESTAMP) if settings.counts_time(field.name) else field.schema,
            False,
            Origin.VALUE_FIELD,
            field.index,
        )
        for field in schema.fields
    ]


def _columns(structs: Sequence[ConnectValue]) -> list[Sequence[ConnectValue]]:
    return [*zip(*[each.values for each in structs if isinstance(each, Struct)], strict=True)]
