"""Our side of a comparison with values in the JVM: the same values, and answers written in the same way."""

from __future__ import annotations

import json
from typing import Any

from copycat_connect.data import ConnectValue, Schema, SchemaBuilderError, SchemaType, Struct
from copycat_connect.data.narrow import Float32, Int8, Int16, Int32
from copycat_connect.errors import DataError
from copycat_json.converter import JsonConverter

from tests.compat.differential.java_values import Chain


def _converter(**config: str) -> JsonConverter:
    converter = JsonConverter()
    converter.configure({name.replace("_", "."): value for name, value in config.items()})
    return converter


_NARROW: dict[SchemaType, type] = {
    SchemaType.INT8: Int8,
    SchemaType.INT16: Int16,
    SchemaType.INT32: Int32,
    SchemaType.FLOAT32: Float32,
}
_ENVELOPES = _converter()
_EXACT = _converter(decimal_format="NUMERIC")


def made(schema: dict[str, Any] | None, payload: Any) -> tuple[Schema | None, ConnectValue]:
    """Make a value out of JsonConverter's schema and payload; no payload makes no value."""
    outer = None if schema is None else {"type": "array", "items": schema}
    items = [] if payload is None and schema is not None and not schema.get("optional") else [payload]
    data = json.dumps({"schema": outer, "payload": items}).encode()
    found = _ENVELOPES.to_connect("t", None, data)
    kind = None if found.schema is None else found.schema.value_schema
    return kind, found.value[0] if items else None


def with_width(schema: Schema | None, value: ConnectValue) -> ConnectValue:
    """Give numbers the Java class that their schema says, so that they keep it under another schema."""
    if schema is None or value is None:
        return value
    if schema.type is SchemaType.ARRAY:
        return [with_width(schema.value_schema, item) for item in value]
    if schema.type is SchemaType.STRUCT:
        items = zip(schema.fields, value.values, strict=True)
        return Struct.of_valid(schema, [with_width(field.schema, item) for field, item in items])
    if schema.type is SchemaType.MAP:
        return {
            with_width(schema.key_schema, key): with_width(schema.value_schema, item)
            for key, item in value.items()
        }
    narrow = _NARROW.get(schema.type)
    return narrow(value) if narrow and type(value) in (int, float) else value


def described(schema: Schema | None, value: ConnectValue) -> Any:
    """Return schema and value as JsonConverter writes them; a failure of that is its text."""
    try:
        data = _EXACT.from_connect("t", None, schema, value)
    except DataError as error:
        return f"!!{error.message}"
    return None if data is None else json.loads(data)


def chain_of(error: BaseException | None, **classes: type[DataError]) -> Chain:
    """Return class and text of an error and of its causes, classes by their names in Java."""
    known = {"DataException": DataError, "SchemaBuilderException": SchemaBuilderError, **classes}
    names = {each: name for name, each in known.items()}
    found = []
    while error is not None:
        found.append((names.get(type(error), type(error).__name__), str(error)))
        error = error.__cause__
    return found
