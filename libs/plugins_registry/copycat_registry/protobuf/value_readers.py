"""How the fields of messages become Connect values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date, time
from typing import Any, Final, NamedTuple

from copycat_connect.data import ConnectValue, Schema, SchemaType, Struct
from copycat_connect.data.logical import (
    DATE,
    DECIMAL,
    TIME,
    TIMESTAMP,
    decimal_from_bytes,
    timestamp_from_millis,
)

ProtoValue = Any
"""What a message gives for a field."""
FromProto = Callable[[ProtoValue], ConnectValue]
_SIGN_BIT: Final = 1 << 63


class FieldReader(NamedTuple):
    """How one field is read."""

    name: str
    """Its name in the message."""
    read: FromProto
    """Turns its value into Connect's."""
    tells_absence: bool
    """True when a message says whether the field is set."""


def struct(fields: Sequence[tuple[FieldReader, ...] | FieldReader], schema: Schema) -> FromProto:
    """Read a message as a struct; several readers in one place are the members of a oneof."""

    def read(message: ProtoValue) -> ConnectValue:
        return Struct.of_valid(schema, [
            _field(message, each) if isinstance(each, FieldReader) else _union(message, each, union)
            for each, union in places
        ])  # fmt: skip

    places = [(each, field.schema) for each, field in zip(fields, schema.field_list, strict=True)]
    return read


def _field(message: ProtoValue, field: FieldReader) -> ConnectValue:
    if field.tells_absence and not message.HasField(field.name):
        return None
    return field.read(getattr(message, field.name))


def _union(message: ProtoValue, members: Sequence[FieldReader], schema: Schema) -> ConnectValue:
    values = [_field(message, each) for each in members]
    return None if all(value is None for value in values) else Struct.of_valid(schema, values)


def array(read: FromProto) -> FromProto:
    """Return a reader of lists that reads each item."""
    return lambda items: [read(item) for item in items]


def entries(key: FieldReader, value: FieldReader) -> FromProto:
    """Read repeated entries as a map."""
    return lambda items: {_field(item, key): _field(item, value) for item in items}


def proto_map(key: FieldReader, value: FieldReader) -> FromProto:
    """Read a map of Protobuf's own."""
    return lambda items: {key.read(each): value.read(items[each]) for each in items}


def as_is(value: ProtoValue) -> ConnectValue:
    """Return what the message gives."""
    return value


def signed(value: ProtoValue) -> ConnectValue:
    """Return an unsigned number of 64 bits as Java has it: from 2^63 on with the same bits, below zero."""
    return value if value < _SIGN_BIT else value - 2 * _SIGN_BIT


def of_wrapper(read: FromProto) -> FromProto:
    """Read the value in a wrapper message."""
    return lambda message: read(message.value)


def symbol(names: Mapping[int, str]) -> FromProto:
    """Read an enum's number as its symbol; as a number when it has none."""
    return lambda number: names.get(number, str(number))


def logical(schema: Schema) -> FromProto | None:
    """Return how a message that stands for a logical type is read; None when the schema is of none."""
    if schema.name == DECIMAL:
        return lambda message: decimal_from_bytes(_scaled(schema, message.scale), message.value)
    return _LOGICAL.get(schema.name or "")


def _scaled(schema: Schema, scale: int) -> Schema:
    same = (schema.parameters or {}).get("scale") == str(scale)
    return schema if same else Schema(SchemaType.BYTES, name=DECIMAL, parameters={"scale": str(scale)})


def _date(message: ProtoValue) -> ConnectValue:
    return date(message.year, message.month, message.day)


def _time(message: ProtoValue) -> ConnectValue:
    return time(message.hours, message.minutes, message.seconds, message.nanos // 1_000_000 * 1000)


def _timestamp(message: ProtoValue) -> ConnectValue:
    return timestamp_from_millis(message.seconds * 1000 + message.nanos // 1_000_000)


_LOGICAL: Final[Mapping[str, FromProto]] = {DATE: _date, TIME: _time, TIMESTAMP: _timestamp}
