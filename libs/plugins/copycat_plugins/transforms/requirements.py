"""What a transformation finds in a record must be what it works on; the texts are Kafka Connect's."""

from __future__ import annotations

from collections.abc import Mapping

from copycat_connect.data import ConnectRecord, ConnectValue, Schema, SinkRecord, Struct
from copycat_connect.data.java import class_name
from copycat_connect.errors import DataError


def require_map(value: ConnectValue, purpose: str) -> Mapping[ConnectValue, ConnectValue]:
    """Return the value if it is a map."""
    if not isinstance(value, dict):
        message = (
            f"Only Map objects supported in absence of schema for [{purpose}], found: {class_name(value)}"
        )
        raise DataError(message)
    return value


def require_struct(value: ConnectValue, purpose: str) -> Struct:
    """Return the value if it is a struct."""
    if not isinstance(value, Struct):
        message = f"Only Struct objects supported for [{purpose}], found: {class_name(value)}"
        raise DataError(message)
    return value


def require_schema(schema: Schema | None, purpose: str) -> Schema:
    """Return the schema if there is one."""
    if schema is None:
        message = f"Schema required for [{purpose}]"
        raise DataError(message)
    return schema


def require_sink_record(record: ConnectRecord, purpose: str) -> SinkRecord:
    """Return the record if it came from Kafka."""
    if not isinstance(record, SinkRecord):
        found = "org.apache.kafka.connect.source.SourceRecord"
        message = f"Only SinkRecord supported for [{purpose}], found: {found}"
        raise DataError(message)
    return record
