"""Our side of a comparison with values in the JVM: the same values, and answers told in the same way."""

from __future__ import annotations

import json
from typing import Any

from copycat_connect.data import ConnectValue, Schema, SchemaBuilderError
from copycat_connect.errors import DataError
from copycat_plugins.converters.json import JsonConverter

from tests.compat.differential.java_values import Chain


def _converter(**config: str) -> JsonConverter:
    converter = JsonConverter()
    converter.configure({name.replace("_", "."): value for name, value in config.items()})
    return converter


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
