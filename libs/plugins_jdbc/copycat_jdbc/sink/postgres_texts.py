"""Columns as PostgreSQL reads them in texts: the lines of COPY, and literals of arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

from copycat_connect.errors import DataError

_NULL = type(None)
#: Python writes these as PostgreSQL reads them.
_PLAIN = frozenset({int, float, bool, Decimal, date, datetime, time})
_SPECIAL = ("\\", "\t", "\n", "\r")
_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


def copy_block(columns: Sequence[Sequence[Any]]) -> bytes:
    """Return rows as COPY reads them in its text format.

    Args:
        columns: The values of each column, as drivers take them.

    Raises:
        DataError: A value has no text.
    """
    lines = map("\t".join, zip(*map(_copy_column, columns), strict=True))
    return ("\n".join(lines) + "\n").encode("utf-8", "surrogatepass")


def array_literal(values: Sequence[Any]) -> str:
    """Return values as the text of an array.

    Raises:
        DataError: A value has no text.
    """
    kinds = set(map(type, values))
    if kinds <= {int, float}:
        return "{" + ",".join(map(str, values)) + "}"
    texts = _texts(values, kinds - {_NULL})
    if _NULL not in kinds:
        joined = "".join(texts)
        if "\\" not in joined and '"' not in joined:
            return '{"' + '","'.join(texts) + '"}' if texts else "{}"
    return "{" + ",".join("NULL" if text is None else _quoted(text) for text in texts) + "}"


def text_column(values: Sequence[Any]) -> list[Any]:
    """Return the text of each value, None for null."""
    return _texts(values, set(map(type, values)) - {_NULL})


def _copy_column(values: Sequence[Any]) -> Sequence[str]:
    kinds = set(map(type, values))
    if kinds == {str}:
        joined = "".join(values)
        if not any(special in joined for special in _SPECIAL):
            return values
        return [text.translate(_ESCAPES) for text in values]
    if kinds <= _PLAIN:
        return [*map(str, values)]
    texts = _texts(values, kinds - {_NULL})
    return ["\\N" if text is None else text.translate(_ESCAPES) for text in texts]


def _texts(values: Sequence[Any], kinds: set[type]) -> list[Any]:
    if kinds == {str}:
        return [*values]
    write: Callable[[Any], str] = str if kinds <= _PLAIN else _text
    return [None if value is None else write(value) for value in values]


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, (bytes, bytearray, memoryview)):
        return "\\x" + bytes(value).hex()
    if isinstance(value, (list, tuple)):
        return array_literal(value)
    if type(value) in _PLAIN:
        return str(value)
    raise DataError(f"a value of type {type(value).__name__} cannot be written to a column")


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
