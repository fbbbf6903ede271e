"""InsertField: adds where a record comes from, or a fixed text, as fields."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from copycat_connect.bounded_cache import BoundedCache
from copycat_connect.cluster import Config
from copycat_connect.config import MEDIUM
from copycat_connect.config.parsing import invalid_value
from copycat_connect.config.settings import Settings, key, shared_key
from copycat_connect.data import (
    INT32_SCHEMA,
    INT64_SCHEMA,
    OPTIONAL_INT32_SCHEMA,
    OPTIONAL_INT64_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    OPTIONAL_TIMESTAMP_SCHEMA,
    STRING_SCHEMA,
    TIMESTAMP_SCHEMA,
    ConnectRecord,
    ConnectValue,
    MapColumn,
    MapColumns,
    Schema,
    Struct,
)
from copycat_connect.data.logical import timestamp_from_millis
from copycat_connect.data.narrow import Int32
from copycat_connect.errors import ConfigError
from copycat_connect.plugin.transformations import Values

from copycat_plugins.transforms.fields import (
    REPLACE_NULL_KEY,
    are_maps,
    read_field,
    require_map,
    require_sink_record,
    require_struct,
    rows_of,
    structs_of,
    with_fields,
)
from copycat_plugins.transforms.sides import Side, SidedTransformation, sided_plugins

_STATIC_VALUE = "static.value"
_PURPOSE = "field insertion"
_SUFFIX = "With a ! at the end the field is required, with a ? or none it is optional."


class InsertFieldSettings(Settings):
    """What is inserted, and under which names."""

    topic_field: str | None = key(MEDIUM, default=None, doc=f"Field for the topic. {_SUFFIX}")
    partition_field: str | None = key(MEDIUM, default=None, doc=f"Field for the Kafka partition. {_SUFFIX}")
    offset_field: str | None = key(
        MEDIUM, default=None, doc=f"Field for the Kafka offset, for sinks only. {_SUFFIX}"
    )
    timestamp_field: str | None = key(
        MEDIUM, default=None, doc=f"Field for the record's timestamp. {_SUFFIX}"
    )
    static_field: str | None = key(MEDIUM, default=None, doc=f"Field for a fixed text. {_SUFFIX}")
    static_value: str | None = key(MEDIUM, name=_STATIC_VALUE, default=None, doc="The fixed text.")
    replace_null: bool = shared_key(REPLACE_NULL_KEY)


Read = Callable[[ConnectRecord], ConnectValue]


@dataclass(frozen=True, slots=True)
class _Source:
    """What may be inserted: its schemas, and how it is read."""

    required: Schema
    optional: Schema
    read: Read
    read_schemaless: Read


@dataclass(frozen=True, slots=True)
class _Insertion:
    """A field to add, and where its value comes from."""

    name: str
    schema: Schema
    read: Read
    read_schemaless: Read


def _topic(record: ConnectRecord) -> ConnectValue:
    return record.topic


def _partition(record: ConnectRecord) -> ConnectValue:
    return None if record.kafka_partition is None else Int32(record.kafka_partition)


def _offset(record: ConnectRecord) -> ConnectValue:
    return require_sink_record(record, _PURPOSE).offset


def _moment(record: ConnectRecord) -> ConnectValue:
    return None if record.timestamp is None else timestamp_from_millis(record.timestamp)


def _millis(record: ConnectRecord) -> ConnectValue:
    return record.timestamp


_TOPIC = _Source(STRING_SCHEMA, OPTIONAL_STRING_SCHEMA, _topic, _topic)
_PARTITION = _Source(INT32_SCHEMA, OPTIONAL_INT32_SCHEMA, _partition, _partition)
_OFFSET = _Source(INT64_SCHEMA, OPTIONAL_INT64_SCHEMA, _offset, _offset)
_TIMESTAMP = _Source(TIMESTAMP_SCHEMA, OPTIONAL_TIMESTAMP_SCHEMA, _moment, _millis)


def _insertion(source: _Source, field: str) -> _Insertion:
    schema = source.required if field.endswith("!") else source.optional
    name = field[:-1] if field.endswith(("!", "?")) else field
    return _Insertion(name, schema, source.read, source.read_schemaless)


class InsertField(SidedTransformation):
    """Appends fields, in the order of its settings."""

    def __init__(self, side: Side) -> None:
        super().__init__(side)
        self._schemas = BoundedCache(16, self._extended)

    def configure(self, config: Config) -> None:
        """Use the fields to add."""
        settings = InsertFieldSettings.parse(config)
        fields = (
            (_TOPIC, settings.topic_field),
            (_PARTITION, settings.partition_field),
            (_OFFSET, settings.offset_field),
            (_TIMESTAMP, settings.timestamp_field),
            (_static(settings.static_field, settings.static_value), settings.static_field),
        )
        self._insertions = [_insertion(source, field) for source, field in fields if field is not None]
        if not self._insertions:
            raise ConfigError("No field insertion configured")
        self._replace_null = settings.replace_null
        only_static = settings.static_field is not None and len(self._insertions) == 1
        self._static = settings.static_value if only_static else None

    def change(
        self, record: ConnectRecord, schema: Schema | None, value: ConnectValue, *, owned: bool = False
    ) -> tuple[Schema | None, ConnectValue]:
        """Return the side with more fields; null stays untouched."""
        if value is None:
            return schema, None
        if schema is None:
            fields = require_map(value, _PURPOSE) if owned else dict(require_map(value, _PURPOSE))
            for insertion in self._insertions:
                item = insertion.read_schemaless(record)
                if item is not None:
                    fields[insertion.name] = item
            return None, fields
        return self._with_schema(record, require_struct(value, _PURPOSE, schema))

    def change_all(self, schema: Schema | None, values: list[ConnectValue]) -> Values | None:
        """Append a fixed text to many; what differs from record to record needs the records."""
        text, name = self._static, self._insertions[0].name
        if text is None:
            return None
        if schema is None:
            if not are_maps(values):
                return None
            for fields in values:
                fields[name] = text
            return None, values
        rows, updated = rows_of(schema, values), self._schemas.get(schema)
        if rows is None:
            return None
        for row in rows:
            row.append(text)
        return updated, structs_of(updated, rows)

    def change_columns(self, columns: MapColumns) -> dict[ConnectValue, MapColumn] | None:
        """Append a fixed text."""
        if self._static is None:
            return None
        return {**columns.columns, self._insertions[0].name: [self._static] * len(columns)}

    def _with_schema(self, record: ConnectRecord, struct: Struct) -> tuple[Schema, Struct]:
        schema = struct.schema
        updated = self._schemas.get(schema)
        result = Struct(updated)
        for field, target in zip(schema.fields, updated.fields, strict=False):
            result.put(target, read_field(struct, field, replace_null=self._replace_null))
        for insertion in self._insertions:
            item = insertion.read(record)
            if item is not None:
                result.put(insertion.name, item)
        return updated, result

    def _extended(self, schema: Schema) -> Schema:
        old = ((field.name, field.schema) for field in schema.fields)
        return with_fields(schema, (*old, *((each.name, each.schema) for each in self._insertions)))


def _static(field: str | None, text: str | None) -> _Source:
    if field is not None and text is None:
        raise invalid_value(_STATIC_VALUE, None, f"No value specified for static field: {field}")

    def read(record: ConnectRecord) -> ConnectValue:
        del record
        return text

    return _Source(STRING_SCHEMA, OPTIONAL_STRING_SCHEMA, read, read)


PLUGINS = sided_plugins(
    InsertField,
    "InsertField",
    "Adds where a record comes from, or a fixed text, as fields.",
    InsertFieldSettings.config_def(),
    {
        "Origin": {"topic.field": "topic", "partition.field": "partition?"},
        "A label": {"static.field": "site!", "static.value": "north"},
    },
)
