"""The JSON of Avro's default values as Connect values."""

from __future__ import annotations

from collections.abc import Callable

from copycat_connect.data import ConnectValue, Schema, SchemaType, Struct, validate_value
from copycat_connect.data.java import round_to_float32
from copycat_connect.errors import DataError

from copycat_plugins.converters.avro.anything import Json
from copycat_plugins.converters.avro.logical_types import logical_reader
from copycat_plugins.converters.avro.names import is_union
from copycat_plugins.converters.registry.scrubbing import scrubbed


def read_default(schema: Schema, json: Json) -> ConnectValue:
    """Return the default value of a schema; None when it has none, or one that does not fit it."""
    try:
        value = _value(schema, json)
        if value is not None:
            validate_value(schema, value)
    except (DataError, TypeError, ValueError, AttributeError, KeyError):
        return None  # as Connect does: a bad default is no reason to refuse the data
    return value


def _value(schema: Schema | None, json: Json) -> ConnectValue:
    if json is None or schema is None:
        return None
    reader = _READERS.get(schema.type)
    plain = json if reader is None else reader(schema, json)
    logical = logical_reader(schema)
    return plain if logical is None else logical(plain)


def _struct(schema: Schema, json: Json) -> ConnectValue:
    if is_union(schema):
        first = schema.fields[0]
        return Struct(schema).put(first, _value(first.schema, json))
    struct = Struct(schema)
    for field in schema.fields:
        value = _value(field.schema, json.get(scrubbed(field.name), json.get(field.name)))
        if value is not None:
            struct.put(field, value)
    struct.validate()
    return struct


def _map(schema: Schema, json: Json) -> ConnectValue:
    pairs = json.items() if isinstance(json, dict) else json
    if isinstance(json, dict):
        return {key: _value(schema.value, item) for key, item in pairs}
    return {_value(schema.key, key): _value(schema.value, item) for key, item in pairs}


_READERS: dict[SchemaType, Callable[[Schema, Json], ConnectValue]] = {
    SchemaType.FLOAT32: lambda _, json: round_to_float32(json),
    SchemaType.FLOAT64: lambda _, json: float(json),
    SchemaType.BYTES: lambda _, json: json.encode("latin-1"),
    SchemaType.ARRAY: lambda schema, json: [_value(schema.value, item) for item in json],
    SchemaType.MAP: _map,
    SchemaType.STRUCT: _struct,
}
