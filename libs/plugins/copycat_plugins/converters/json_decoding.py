"""JSON text as Jackson reads it, at the speed of orjson.

Both read the same values but for integers beyond 64 bits, negative zero and some leniencies. These are looked
for, and only where there may be one the slow way is taken.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from decimal import Decimal

import orjson
from copycat_connect.errors import DataError

from copycat_plugins.converters.json_node import Node

_DIGITS_TO_ZERO = bytes(ord("0") if ord("0") <= code <= ord("9") else code for code in range(256))
_NINETEEN_DIGITS = b"0" * 19
_LEADING_ZEROS = re.compile(r'("(?:[^"\\]|\\.)*")|(?<![\d.eE+-])(-?)0+(?=\d)', re.DOTALL)
_NEGATIVE_ZERO = re.compile(rb"-0(?:\.0+)?(?:[eE]|(?![0-9.]))")
_BLANK = " \t\r\n"
_READ_FAILED = "Converting byte[] to Kafka Connect data failed due to serialization error: "


def read(data: bytes) -> Node:
    """Read the first JSON value of the bytes, as Java reads it without a schema; what follows is ignored.

    Integers beyond 64 bits keep their low 64 bits, and there is no negative zero.

    Raises:
        DataError: There is none.
    """
    if _may_be_huge(data) or _NEGATIVE_ZERO.search(data):
        return without_extremes(_decode(data, float))
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        return without_extremes(_decode(data, float))


def read_batch(datas: Sequence[bytes]) -> list[Node]:
    """Read many values, each as `read` does.

    Raises:
        DataError: One of them is malformed.
    """
    joined = b"\n".join(datas)
    if _may_be_huge(joined) or (b"-0" in joined and _NEGATIVE_ZERO.search(joined)):
        return [read(data) for data in datas]
    try:
        return [orjson.loads(data) for data in datas]
    except orjson.JSONDecodeError:
        return [read(data) for data in datas]


def read_for_schema(data: bytes, *, digits_as_written: bool = False) -> Node:
    """Read the first JSON value of the bytes for a reader that has a schema.

    Args:
        data: The bytes.
        digits_as_written: Numbers with a fraction become Decimal, trailing zeros kept.

    Raises:
        DataError: There is none.
    """
    if digits_as_written:
        return _decode(data, Decimal)
    if _may_be_huge(data):
        return _decode(data, float)
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        return _decode(data, float)


class NotStrictError(Exception):
    """The text may mean something to Jackson, but it is not strictly JSON within 64 bits."""


def read_strictly(data: bytes) -> Node:
    """Read a text that is one JSON value and no more, for a reader that has a schema.

    Raises:
        NotStrictError: It is something else, or needs `read_for_schema`.
    """
    if _may_be_huge(data):
        raise NotStrictError
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise NotStrictError from error


def read_batch_strictly(datas: Sequence[bytes]) -> list[Node]:
    """Read texts that are one JSON value each.

    Raises:
        NotStrictError: One is something else, or needs `read_for_schema`, or may hold a negative zero.
    """
    joined = b"\n".join(datas)
    if _may_be_huge(joined) or (b"-0" in joined and _NEGATIVE_ZERO.search(joined)):
        raise NotStrictError
    try:
        return [orjson.loads(data) for data in datas]
    except orjson.JSONDecodeError as error:
        raise NotStrictError from error


def without_extremes(node: Node) -> Node:
    """Return a node whose integers fit 64 bits, and whose zeros have no sign."""
    match node:
        case bool():
            return node
        case int():
            return wrap(node, 64)
        case float():
            return node + 0.0
        case dict():
            return {key: without_extremes(item) for key, item in node.items()}
        case list():
            return [without_extremes(item) for item in node]
        case _:
            return node


def wrap(number: int, bits: int) -> int:
    """Return the low bits as a signed integer, as a Java cast does."""
    low = number & (1 << bits) - 1
    return low - (1 << bits) if low >> bits - 1 else low


def _may_be_huge(data: bytes) -> bool:
    return _NINETEEN_DIGITS in data.translate(_DIGITS_TO_ZERO)


def _decode(data: bytes, parse_float: Callable[[str], float | Decimal]) -> Node:
    decoder = json.JSONDecoder(parse_float=parse_float, parse_constant=_refuse_constant)
    try:
        text = data.decode(json.detect_encoding(data)).lstrip(_BLANK)
        if not text:
            return None
        # Jackson takes 007 for 7.
        text = _LEADING_ZEROS.sub(r"\1\2", text)
        node, end = decoder.raw_decode(text)
    except (ValueError, RecursionError) as error:
        raise DataError(_READ_FAILED) from error
    if not isinstance(node, (str, dict, list)) and text[end : end + 1] not in ("", *_BLANK):
        raise DataError(_READ_FAILED)
    return node


def _refuse_constant(name: str) -> Node:
    message = f"Non-standard token '{name}'"
    raise ValueError(message)
