"""Schemas as text in Spark's DDL: `id BIGINT NOT NULL, tags ARRAY<STRING>`, or one type such as `STRING`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from copycat_connect.config.parsing import invalid_value
from copycat_connect.config.setting import ConfigSetting
from copycat_connect.data import (
    OPTIONAL_BOOLEAN_SCHEMA,
    OPTIONAL_BYTES_SCHEMA,
    OPTIONAL_DATE_SCHEMA,
    OPTIONAL_FLOAT32_SCHEMA,
    OPTIONAL_FLOAT64_SCHEMA,
    OPTIONAL_INT8_SCHEMA,
    OPTIONAL_INT16_SCHEMA,
    OPTIONAL_INT32_SCHEMA,
    OPTIONAL_INT64_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    OPTIONAL_TIMESTAMP_SCHEMA,
    Schema,
    SchemaBuilder,
    SchemaBuilderError,
    decimal_schema,
)
from copycat_connect.errors import DataError

_SCALARS: Mapping[str, Schema] = {
    "BOOLEAN": OPTIONAL_BOOLEAN_SCHEMA,
    "TINYINT": OPTIONAL_INT8_SCHEMA,
    "SMALLINT": OPTIONAL_INT16_SCHEMA,
    "INT": OPTIONAL_INT32_SCHEMA,
    "INTEGER": OPTIONAL_INT32_SCHEMA,
    "BIGINT": OPTIONAL_INT64_SCHEMA,
    "FLOAT": OPTIONAL_FLOAT32_SCHEMA,
    "DOUBLE": OPTIONAL_FLOAT64_SCHEMA,
    "STRING": OPTIONAL_STRING_SCHEMA,
    "BINARY": OPTIONAL_BYTES_SCHEMA,
    "DATE": OPTIONAL_DATE_SCHEMA,
    "TIMESTAMP": OPTIONAL_TIMESTAMP_SCHEMA,
}
_TYPES = ", ".join((*_SCALARS, "DECIMAL(p,s)", "ARRAY<t>", "MAP<k,v>", "STRUCT<name: t, ...>"))
_SIGNS = "<>(),:"
_TOKEN = re.compile(rf"\s*(?:(?P<word>\w+)|`(?P<quoted>(?:[^`]|``)+)`|(?P<sign>[{_SIGNS}]))")


class DdlError(DataError):
    """A text is no schema in DDL."""


def parse_ddl(text: str) -> Schema:
    """Return the schema a text describes: a struct for a list of fields, else what its one type says.

    A member is optional unless it is NOT NULL; the schema itself is required.

    Raises:
        DdlError: The text is malformed.
    """
    try:
        return replace(_Parser(text).whole(), optional=False)
    except SchemaBuilderError as error:
        raise DdlError(error.message) from error


def schema_ddl(name: str, value: ConfigSetting) -> None:
    """Accept schemas in DDL; null passes."""
    if value is None:
        return
    try:
        parse_ddl(value)
    except DdlError as error:
        raise invalid_value(name, value, error.message) from error


class _Parser:
    """Reads one text from its start to its end."""

    def __init__(self, text: str) -> None:
        self._tokens = _tokens(text)
        self._place = 0

    def whole(self) -> Schema:
        word = self._peek().upper()
        is_type = word in _SCALARS or word in ("DECIMAL", "ARRAY", "MAP", "STRUCT")
        one_type = is_type and self._peek(1) in ("", "<", "(")
        schema = self._type() if one_type else self._fields()
        self._expect("")
        return schema

    def _type(self) -> Schema:
        word = self._take().upper()
        if word in _SCALARS:
            return _SCALARS[word]
        if word == "DECIMAL":
            return decimal_schema(self._scale(), optional=True)
        if word not in ("ARRAY", "MAP", "STRUCT"):
            raise DdlError(f"{word or 'the end'} stands where a type is expected, one of {_TYPES}")
        self._expect("<")
        if word == "STRUCT":
            schema = self._fields()
        elif word == "ARRAY":
            schema = SchemaBuilder.array(self._type()).optional().build()
        else:
            key = self._type()
            self._expect(",")
            schema = SchemaBuilder.map(replace(key, optional=False), self._type()).optional().build()
        self._expect(">")
        return schema

    def _scale(self) -> int:
        if self._peek() != "(":
            return 0
        self._take()
        numbers = [self._take()]
        if self._peek() == ",":
            self._take()
            numbers.append(self._take())
        self._expect(")")
        if not all(number.isdecimal() for number in numbers):
            raise DdlError("DECIMAL takes numbers: DECIMAL(precision, scale)")
        return int(numbers[1]) if len(numbers) > 1 else 0

    def _fields(self) -> Schema:
        builder = SchemaBuilder.struct().optional()
        while True:
            name = self._take()
            if not name or name in _SIGNS:
                raise DdlError(f"{name or 'the end'} stands where a field is expected, such as id BIGINT")
            if self._peek() == ":":
                self._take()
            builder.field(name, self._nullable(self._type()))
            if self._peek() != ",":
                return builder.build()
            self._take()

    def _nullable(self, schema: Schema) -> Schema:
        if self._peek().upper() != "NOT":
            return schema
        self._take()
        if self._take().upper() != "NULL":
            raise DdlError("NOT is followed by NULL")
        return replace(schema, optional=False)

    def _peek(self, ahead: int = 0) -> str:
        place = self._place + ahead
        return self._tokens[place] if place < len(self._tokens) else ""

    def _take(self) -> str:
        token = self._peek()
        self._place += 1
        return token

    def _expect(self, wanted: str) -> None:
        found = self._take()
        if found != wanted:
            raise DdlError(f"{found or 'the end'} stands where {wanted or 'the end'} is expected")


def _tokens(text: str) -> list[str]:
    tokens, place, text = [], 0, text.rstrip()
    while place < len(text):
        found = _TOKEN.match(text, place)
        if found is None:
            raise DdlError(f"it cannot be read from {text[place : place + 20]!r} on")
        quoted = found["quoted"]
        tokens.append(quoted.replace("``", "`") if quoted else found["word"] or found["sign"])
        place = found.end()
    return tokens
