"""What a transformation finds in a record must be what it works on; the texts are Kafka Connect's."""

from __future__ import annotations

from copycat_connect.data import ConnectRecord, ConnectValue, Schema, SinkRecord, Struct
from copycat_connect.data.java import class_name
from copycat_connect.data.narrow import narrowed
from copycat_connect.errors import DataError


def require_map(value: ConnectValue, purpose: str) -> dict[ConnectValue, ConnectValue]:
    """Return the value if it is a map."""
    if not isinstance(value, dict):
        raise DataError(
            f"Only Map objects supported in absence of schema for [{purpose}], found: {class_name(value)}"
        )
    return value


def require_struct(value: ConnectValue, purpose: str, schema: Schema | None = None) -> Struct:
    """Return the value if it is a struct; the schema says what else it is."""
    if not isinstance(value, Struct):
        found = class_name(value) if schema is None else _class_by_schema(schema, value)
        raise DataError(f"Only Struct objects supported for [{purpose}], found: {found}")
    return value


def _class_by_schema(schema: Schema, value: ConnectValue) -> str:
    return class_name(narrowed(value, schema.type))


def require_schema(schema: Schema | None, purpose: str) -> Schema:
    """Return the schema if there is one."""
    if schema is None:
        raise DataError(f"Schema required for [{purpose}]")
    return schema


def require_sink_record(record: ConnectRecord, purpose: str) -> SinkRecord:
    """Return the record if it came from Kafka."""
    if not isinstance(record, SinkRecord):
        found = "org.apache.kafka.connect.source.SourceRecord"
        raise DataError(f"Only SinkRecord supported for [{purpose}], found: {found}")
    return record
