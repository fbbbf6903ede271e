"""How Connect values become what message classes take: dictionaries by field, in which null is left out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, Final

from copycat_connect.data import ConnectValue, FarDate, FarTimestamp, Schema, SchemaType, Struct
from copycat_connect.data.logical import (
    DATE,
    DECIMAL,
    TIME,
    TIMESTAMP,
    decimal_to_bytes,
    timestamp_to_millis,
)
from copycat_connect.errors import DataError
from google.protobuf.descriptor import Descriptor, FieldDescriptor

from copycat_registry.protobuf import names
from copycat_registry.protobuf.indexes import message_of
from copycat_registry.protobuf.plugin import ProtobufOptions

ProtoValue = Any
"""What a message class takes for a field."""
ToProto = Callable[[ConnectValue], ProtoValue]
_UNSIGNED: Final = frozenset({FieldDescriptor.TYPE_UINT64, FieldDescriptor.TYPE_FIXED64})
_RANGE: Final = 1 << 64


class ValueWriters:
    """Composes writers, by schema and message."""

    def __init__(self, options: ProtobufOptions) -> None:
        self._options = options

    def message(self, schema: Schema, message: Descriptor) -> ToProto:
        """Return how structs of a schema become a message's fields.

        Raises:
            DataError: The message has no such field.
        """
        steps: list[tuple[str | None, ToProto, ConnectValue]] = []
        for field in schema.fields:
            if names.is_union(field.schema):
                steps.append((None, self.message(field.schema, message), None))
                continue
            name = names.proto_name(field.name, scrub=self._options.scrub)
            found = message.fields_by_name.get(name)
            if found is None:
                reason = f"Message {message.full_name} has no field {name}: register a schema that has it."
                raise DataError(reason)
            default = None if self._options.ignore_default else field.schema.default
            steps.append((name, self._field(field.schema, found), default))

        def write(struct: Struct) -> dict[str, ProtoValue]:
            fields: dict[str, ProtoValue] = {}
            for (name, write_field, default), value in zip(steps, struct.values, strict=True):
                chosen = default if value is None else value
                if chosen is None:
                    continue
                if name is None:
                    fields |= write_field(chosen)
                else:
                    fields[name] = write_field(chosen)
            return fields

        return write

    def _field(self, schema: Schema, field: FieldDescriptor) -> ToProto:
        if schema.type is SchemaType.ARRAY and schema.value is not None:
            write_item = self._single(schema.value, field)
            return lambda items: [write_item(item) for item in items]
        if schema.type is SchemaType.MAP and schema.key is not None and schema.value is not None:
            return self._map(schema.key, schema.value, field)
        return self._single(schema, field)

    def _map(self, key: Schema, value: Schema, field: FieldDescriptor) -> ToProto:
        message = message_of(field)
        entry = message.fields_by_name
        write_key, write_value = self._field(key, entry[names.KEY]), self._field(value, entry[names.VALUE])
        if not message.GetOptions().map_entry:
            return lambda pairs: [
                {names.KEY: write_key(each)} | ({} if item is None else {names.VALUE: write_value(item)})
                for each, item in pairs.items()
            ]
        return lambda pairs: {write_key(each): write_value(item) for each, item in pairs.items()}

    def _single(self, schema: Schema, field: FieldDescriptor) -> ToProto:
        logical = _LOGICAL.get(schema.name or "")
        if logical is not None:
            return lambda value: logical(schema, value)
        if schema.type is SchemaType.STRUCT:
            return self.message(schema, message_of(field))
        if field.message_type is not None:
            return wrapper_writer(field.message_type)
        if field.type in _UNSIGNED:
            return _unsigned
        return bytes if schema.type is SchemaType.BYTES else _as_is


def wrapper_writer(wrapper: Descriptor) -> ToProto:
    """Return how values become the fields of a wrapper message."""
    write = _unsigned if wrapper.name == names.UNSIGNED_WRAPPER else _as_is
    return lambda value: {names.VALUE: write(value)}


def _unsigned(value: ConnectValue) -> ProtoValue:
    """Return the number that has Java's bits of a long."""
    return value + _RANGE if isinstance(value, int) and -_RANGE // 2 <= value < 0 else value


def _as_is(value: ConnectValue) -> ProtoValue:
    return value


def _decimal(schema: Schema, value: Decimal) -> ProtoValue:
    _, digits, exponent = value.as_tuple()
    unscaled = decimal_to_bytes(schema, value)
    return {"value": unscaled, "precision": len(digits), "scale": -int(exponent)}


def _date(schema: Schema, value: date | FarDate) -> ProtoValue:
    del schema
    if isinstance(value, FarDate):
        raise DataError(f"google.type.Date holds the years 1 to 9999, and {value} lies outside of them")
    return {"year": value.year, "month": value.month, "day": value.day}


def _time(schema: Schema, value: time) -> ProtoValue:
    del schema
    # Connect's times have milliseconds, and finer parts are cut off.
    nanos = value.microsecond // 1000 * 1_000_000
    return {"hours": value.hour, "minutes": value.minute, "seconds": value.second, "nanos": nanos}


def _timestamp(schema: Schema, value: datetime | FarTimestamp) -> ProtoValue:
    del schema
    seconds, millis = divmod(timestamp_to_millis(value), 1000)
    return {"seconds": seconds, "nanos": millis * 1_000_000}


_LOGICAL: Final[Mapping[str, Callable[[Schema, Any], ProtoValue]]] = {
    DECIMAL: _decimal,
    DATE: _date,
    TIME: _time,
    TIMESTAMP: _timestamp,
}
