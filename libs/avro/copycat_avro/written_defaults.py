"""Default values of Connect schemas as the JSON of Avro schemas."""

from __future__ import annotations

from collections.abc import Callable

from copycat_connect.data import ConnectValue, Schema, SchemaType
from copycat_connect.data.java import shortest_float32

from copycat_avro.anything import Json
from copycat_avro.logical_types import logical_writer
from copycat_avro.names import avro_name, is_union
from copycat_avro.options import AvroOptions


def default_json(schema: Schema, value: ConnectValue, options: AvroOptions) -> Json:
    """Return the JSON of a default value; bytes become the characters of their codes, as Avro wants it."""
    if value is None:
        return None
    write = logical_writer(schema)
    plain = value if write is None else write(value)
    json_of = _JSON.get(schema.type)
    return plain if json_of is None else json_of(schema, plain, options)


def has_string_keys(schema: Schema, options: AvroOptions) -> bool:
    """Return whether a map is an Avro map; others are arrays of entries."""
    key = schema.key
    return (
        key is not None and key.type is SchemaType.STRING and (not key.optional or options.optional_map_keys)
    )


def _map_json(schema: Schema, value: ConnectValue, options: AvroOptions) -> Json:
    if schema.key is None or schema.value is None:
        return None
    if has_string_keys(schema, options):
        return {key: default_json(schema.value, item, options) for key, item in value.items()}
    return [
        [default_json(schema.key, key, options), default_json(schema.value, item, options)]
        for key, item in value.items()
    ]


def _struct_json(schema: Schema, value: ConnectValue, options: AvroOptions) -> Json:
    fields = {field: default_json(field.schema, value.get(field), options) for field in schema.fields}
    if is_union(schema):
        return next((json for json in fields.values() if json is not None), None)
    return {avro_name(field.name, scrub=options.scrub): json for field, json in fields.items()}


def _array_json(schema: Schema, value: ConnectValue, options: AvroOptions) -> Json:
    return None if schema.value is None else [default_json(schema.value, item, options) for item in value]


_JSON: dict[SchemaType, Callable[[Schema, ConnectValue, AvroOptions], Json]] = {
    SchemaType.FLOAT32: lambda _, value, __: float(shortest_float32(value)),
    SchemaType.BYTES: lambda _, value, __: bytes(value).decode("latin-1"),
    SchemaType.ARRAY: _array_json,
    SchemaType.MAP: _map_json,
    SchemaType.STRUCT: _struct_json,
}
