"""Avro schemas as text, parsed for those who use them: fastavro, our translation, Avro's rules of evolution.

Logical types are taken away before fastavro sees them: what it reads and writes are plain numbers and bytes.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from avro.name import Names
from avro.schema import Schema as OfficialSchema
from avro.schema import make_avsc_object
from copycat_connect.errors import DataError
from fastavro import parse_schema
from fastavro.schema import SchemaParseException, UnknownType

from copycat_avro.anything import Json
from copycat_avro.schema_text import SchemaText

if TYPE_CHECKING:
    from fastavro.types import Schema as ParsedSchema

_INSIDE: Final = ("type", "items", "values", "fields")


def parse(schema: Json) -> ParsedSchema:
    """Parse a schema for fastavro.

    Raises:
        DataError: It is no valid schema.
    """
    return _parse(_without_logical_types(schema), {}, expand=False)


def parse_text(schema: SchemaText) -> ParsedSchema:
    """Parse a registered schema, with those it refers to, for fastavro.

    Raises:
        DataError: It is no valid schema.
    """
    known: dict[str, Json] = {}
    for each in _in_order(schema):
        parsed = _parse(_without_logical_types(_load(each)), known, expand=False)
    return parsed


def expand_text(schema: SchemaText) -> Json:
    """Return a registered schema with full names, and with every name replaced by what it stands for.

    Raises:
        DataError: It is no valid schema.
    """
    known: dict[str, Json] = {}
    for each in _in_order(schema):
        expanded = _parse(_load(each), known, expand=True)
    return expanded


def official(schema: SchemaText) -> OfficialSchema:
    """Parse a registered schema with Avro's own library, which knows what can be read as what.

    Raises:
        AvroException: It is no valid schema.
    """
    known = Names(validate_names=False)
    for each in _in_order(schema):
        parsed = make_avsc_object(_load(each), known, validate_names=False)
    return parsed


def _in_order(schema: SchemaText) -> list[SchemaText]:
    """Return what a schema refers to, deepest first, and itself last."""
    found: dict[SchemaText, None] = {}
    for _, reference in schema.references:
        found |= dict.fromkeys(_in_order(reference))
    return [*found, schema]


def _load(schema: SchemaText) -> Json:
    try:
        return json.loads(schema.text)
    except ValueError:
        return schema.text  # a name alone, as some clients register primitive types


def _parse(schema: Json, known: dict[str, Json], *, expand: bool) -> ParsedSchema:
    try:
        # With its hint fastavro knows that this is parsed, and does not do it again for every record.
        return parse_schema(schema, named_schemas=known, expand=expand, _write_hint=not expand)
    except (SchemaParseException, UnknownType, KeyError, TypeError) as error:
        message = f"The Avro schema is not valid: {error}. Look at it in the registry."
        raise DataError(message) from error


def _without_logical_types(schema: Json) -> Json:
    if isinstance(schema, list):
        return [_without_logical_types(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: _without_logical_types(value) if key in _INSIDE else value
        for key, value in schema.items()
        if key != "logicalType"
    }
