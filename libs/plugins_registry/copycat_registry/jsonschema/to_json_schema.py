"""Connect schemas as JSON Schemas."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from copycat_connect.data import ConnectValue, Schema, SchemaType
from copycat_connect.data.logical import DECIMAL
from copycat_json.encoding import write

from copycat_registry.jsonschema import names
from copycat_registry.jsonschema.plugin import JsonSchemaOptions
from copycat_registry.jsonschema.values import JsonSchemaWriter

Json = Any
"""A JSON Schema, parsed."""

_NULL: Final[Json] = {"type": "null"}
_PRIMITIVES: Final[dict[SchemaType, Json]] = {
    SchemaType.INT8: {"type": "integer", names.CONNECT_TYPE: "int8"},
    SchemaType.INT16: {"type": "integer", names.CONNECT_TYPE: "int16"},
    SchemaType.INT32: {"type": "integer", names.CONNECT_TYPE: "int32"},
    SchemaType.INT64: {"type": "integer", names.CONNECT_TYPE: "int64"},
    SchemaType.FLOAT32: {"type": "number", names.CONNECT_TYPE: "float32"},
    SchemaType.FLOAT64: {"type": "number", names.CONNECT_TYPE: "float64"},
    SchemaType.BOOLEAN: {"type": "boolean"},
    SchemaType.STRING: {"type": "string"},
    SchemaType.BYTES: {"type": "string", names.CONNECT_TYPE: "bytes"},
}


class JsonSchemas:
    """Translates Connect schemas to JSON Schema."""

    def __init__(self, options: JsonSchemaOptions) -> None:
        self._options = options
        self._writer = JsonSchemaWriter(numeric_decimals=options.numeric_decimals, replace_nulls=True)
        self._complex: dict[SchemaType, Callable[[Schema], Json]] = {
            SchemaType.ARRAY: self._array,
            SchemaType.MAP: self._map,
            SchemaType.STRUCT: self._struct,
        }

    def of(self, schema: Schema | None, index: int | None = None) -> Json:
        """Translate a schema; the index is its place within a struct."""
        if schema is None:
            return {}
        place = {} if index is None else {names.CONNECT_INDEX: index}
        if names.is_union(schema):
            members = [
                self.of(replace(field.schema, optional=False), field.index) for field in schema.field_list
            ]
            return {"oneOf": [*([_NULL] if schema.optional else []), *members], **place}
        if schema.optional:
            return {"oneOf": [_NULL, self.of(replace(schema, optional=False))], **place}
        return {**self._physical(schema), **self._meta_data(schema), **place}

    def _physical(self, schema: Schema) -> Json:
        translate = self._complex.get(schema.type)
        if translate is not None:
            return translate(schema)
        symbols = _symbols(schema)
        if symbols is not None:
            return {"enum": symbols}
        if schema.name == DECIMAL and self._options.numeric_decimals:
            return {"type": "number", names.CONNECT_TYPE: "bytes"}
        return _PRIMITIVES[schema.type]

    def _array(self, schema: Schema) -> Json:
        return {"type": "array", "items": self.of(schema.value)}

    def _map(self, schema: Schema) -> Json:
        connect_type = {names.CONNECT_TYPE: "map"}
        if names.has_text_keys(schema):
            return {"type": "object", "additionalProperties": self.of(schema.value), **connect_type}
        entry = {names.KEY: self.of(schema.key, 0), names.VALUE: self.of(schema.value, 1)}
        return {"type": "array", "items": {"type": "object", "properties": entry}, **connect_type}

    def _struct(self, schema: Schema) -> Json:
        closed = {} if self._options.additional_properties else {"additionalProperties": False}
        properties = {field.name: self.of(field.schema, field.index) for field in schema.field_list}
        return {"type": "object", "properties": properties, **closed}

    def _meta_data(self, schema: Schema) -> Json:
        parameters = {
            name: text
            for name, text in (schema.parameters or {}).items()
            if not name.startswith(names.NAMESPACE)
        }
        found = {
            "title": schema.name,
            "description": schema.doc,
            "default": self._default(schema, schema.default),
            names.CONNECT_VERSION: schema.version,
            names.CONNECT_PARAMETERS: parameters or None,
        }
        return {name: value for name, value in found.items() if value is not None}

    def _default(self, schema: Schema, value: ConnectValue) -> Json:
        # A node may hold numbers as text: written and read again it is plain.
        return None if value is None else json.loads(write(self._writer.writer(schema)(value)))


def _symbols(schema: Schema) -> list[str | None] | None:
    parameters = schema.parameters or {}
    mark = next((name for name in (names.SHARED_ENUM, names.ENUM) if name in parameters), None)
    if mark is None or schema.type is not SchemaType.STRING:
        return None
    symbols = [name[len(mark) + 1 :] for name in parameters if name.startswith(mark + ".")]
    return [None if symbol == names.NULL_SYMBOL else symbol for symbol in symbols]
