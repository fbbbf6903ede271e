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
from copycat_connect.data import MapColumns
from copycat_connect.errors import DataError

from copycat_json.node import MISSING, Node, is_exact

_DIGITS_TO_ZERO = bytes(ord("0") if ord("0") <= code <= ord("9") else code for code in range(256))
_NINETEEN_DIGITS = b"0" * 19
_LEADING_ZEROS = re.compile(r'("(?:[^"\\]|\\.)*+"?)|(?<![\d.eE+-])(-?)0+(?=\d)', re.DOTALL)
_NEGATIVE_ZERO = re.compile(rb"-0(?:\.0+)?(?:[eE]|(?![0-9.]))")
_BLANK = " \t\r\n"
_LOOKED_AT_BYTES = 4
_BYTE_ORDER_MARKS = (
    (b"\0\0\xfe\xff", "utf-32-be"),
    (b"\xff\xfe\0\0", "utf-32-le"),
    (b"\xfe\xff", "utf-16-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xef\xbb\xbf", "utf-8"),
)
_STRANGE_MARKS = (b"\0\0\xff\xfe", b"\xfe\xff\0\0")
_STRANGE_ZEROS = (b"\0\1\0\0", b"\0\0\1\0")
_ON_MALFORMED = {
    "utf-8": "surrogateescape",
    **dict.fromkeys(("utf-16-be", "utf-16-le"), "replace"),
    **dict.fromkeys(("utf-32-be", "utf-32-le"), "strict"),
}
_BROKEN = re.compile("[\udc80-\udcff]")
#: Jackson's bounds.
_MAX_NUMBER_LENGTH = 1000
_MAX_NESTING = 1000
_MAX_UNCHECKED_BYTES = 2 * _MAX_NESTING
"""No text of so many bytes is nested too deep: each level takes two."""
_OPENING = re.compile(rb'"(?:[^"\\]|\\.)*"?|[\[{]|[\]}]', re.DOTALL)
_READ_FAILED = "Converting byte[] to Kafka Connect data failed due to serialization error: "


def read(data: bytes) -> Node:
    """Read the first JSON value of the bytes, as Java reads it without a schema; what follows is ignored.

    Integers beyond 64 bits keep their low 64 bits, and there is no negative zero.

    Raises:
        DataError: It is missing.
    """
    if _may_be_huge(data) or _NEGATIVE_ZERO.search(data) or _is_too_deep(data):
        return _decode_schemaless(data)
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        return _decode_schemaless(data)


def _decode_schemaless(data: bytes) -> Node:
    node = _decode(data, float)
    return None if node is MISSING else without_extremes(node)


def read_batch(datas: Sequence[bytes]) -> list[Node] | MapColumns:
    """Read many values, each as `read` does; objects with the same keys become columns.

    Raises:
        DataError: One of them is malformed.
    """
    try:
        nodes = None if _any_too_deep(datas) else list(map(orjson.loads, datas))
    except orjson.JSONDecodeError:
        nodes = None
    if nodes is None:
        return [read(data) for data in datas]
    columns = MapColumns.of(nodes)
    if columns is None or not all(map(is_exact, columns.columns.values())):
        joined = b"\n".join(datas)
        if _may_be_huge(joined) or (b"-0" in joined and _NEGATIVE_ZERO.search(joined)):
            return [read(data) for data in datas]
    return nodes if columns is None else columns


def read_for_schema(data: bytes, *, digits_as_written: bool = False) -> Node:
    """Read the first JSON value of the bytes for a reader that has a schema.

    Args:
        data: The bytes.
        digits_as_written: Numbers with a fraction become Decimal, trailing zeros kept.

    Returns:
        The value; MISSING for bytes that are blank.

    Raises:
        DataError: It is malformed.
    """
    if digits_as_written:
        return _decode(data, Decimal)
    if _may_be_huge(data) or _is_too_deep(data):
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
    if _may_be_huge(data) or _is_too_deep(data):
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
    if _may_be_huge(joined) or (b"-0" in joined and _NEGATIVE_ZERO.search(joined)) or _any_too_deep(datas):
        raise NotStrictError
    try:
        return [orjson.loads(data) for data in datas]
    except orjson.JSONDecodeError as error:
        raise NotStrictError from error


def without_extremes(node: Node) -> Node:
    """Return a node whose integers fit 64 bits, and whose zeros have no sign.

    Raises:
        DataError: It is nested deeper than Python can follow, at some hundred levels.
    """
    try:
        return _without_extremes(node)
    except RecursionError as error:
        raise DataError(_READ_FAILED) from error


def _without_extremes(node: Node) -> Node:
    match node:
        case bool():
            return node
        case int():
            return wrap(node, 64)
        case float():
            return node + 0.0
        case dict():
            return {key: _without_extremes(item) for key, item in node.items()}
        case list():
            return [_without_extremes(item) for item in node]
        case _:
            return node


def wrap(number: int, bits: int) -> int:
    """Return the low bits as a signed integer, as a Java cast does."""
    low = number & (1 << bits) - 1
    return low - (1 << bits) if low >> bits - 1 else low


def _may_be_huge(data: bytes) -> bool:
    return _NINETEEN_DIGITS in data.translate(_DIGITS_TO_ZERO)


def _any_too_deep(datas: Sequence[bytes]) -> bool:
    return max(map(len, datas), default=0) > _MAX_UNCHECKED_BYTES and any(map(_is_too_deep, datas))


def _is_too_deep(data: bytes) -> bool:
    """Return whether arrays and objects are nested deeper than Jackson goes; texts do not count."""
    if len(data) <= _MAX_UNCHECKED_BYTES or data.count(b"[") + data.count(b"{") <= _MAX_NESTING:
        return False
    depth = 0
    for found in _OPENING.finditer(data):
        if found[0] in (b"[", b"{"):
            depth += 1
            if depth > _MAX_NESTING:
                return True
        elif found[0] in (b"]", b"}"):
            depth -= 1
            if depth == 0:
                return False
    return False


def _decode(data: bytes, parse_float: Callable[[str], float | Decimal]) -> Node:
    def parse_fraction(text: str) -> float | Decimal:
        if len(text) - sum(map(text.count, "-+.eE")) > _MAX_NUMBER_LENGTH:
            raise ValueError("Number value length exceeds the maximum allowed")
        return parse_float(text)

    if _is_too_deep(data):
        raise DataError(_READ_FAILED)
    decoder = json.JSONDecoder(
        parse_float=parse_fraction, parse_int=_integer, parse_constant=_refuse_constant
    )
    try:
        encoding, bom = _encoding(data)
        # What follows the value is not looked at: only within it broken UTF-8 is an error.
        text = data[bom:].decode(encoding, _ON_MALFORMED[encoding]).lstrip(_BLANK)
        if not text:
            return MISSING
        # Jackson takes 007 for 7.
        text = _LEADING_ZEROS.sub(r"\1\2", text)
        node, end = decoder.raw_decode(text)
        _check_like_jackson(text, end, node)
    except (ValueError, RecursionError) as error:
        raise DataError(_READ_FAILED) from error
    return node


def _check_like_jackson(text: str, end: int, node: Node) -> None:
    """Refuse what Jackson refuses beyond the grammar."""
    if _BROKEN.search(text, 0, end):
        raise ValueError("Invalid UTF-8")
    after = text[end : end + 1]
    if isinstance(node, (bool, type(None))):
        if after > "0" and f"a{after}".isidentifier():
            raise ValueError("Unrecognized token")
    elif not isinstance(node, (str, dict, list)) and after not in ("", *_BLANK):
        raise ValueError("Expected space separating root-level values")


def _encoding(data: bytes) -> tuple[str, int]:
    """Return the encoding Jackson takes JSON to be in, and the length of the byte order mark.

    Its ByteSourceJsonBootstrapper looks for a mark only where there are four bytes.

    Raises:
        ValueError: It is a byte order that nobody reads.
    """
    if len(data) < _LOOKED_AT_BYTES:
        return _by_zeros(data[:2]) or "utf-8", 0
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return encoding, len(mark)
    quad = bytes(1 if byte else 0 for byte in data[:_LOOKED_AT_BYTES])
    if data.startswith(_STRANGE_MARKS) or quad in _STRANGE_ZEROS:
        raise ValueError("Unsupported UCS-4 endianness")
    if quad[:3] == b"\0\0\0":
        return "utf-32-be", 0
    return "utf-32-le" if quad[1:] == b"\0\0\0" else _by_zeros(data[:2]) or "utf-8", 0


def _by_zeros(start: bytes) -> str | None:
    if len(start) < 2 or 0 not in start:
        return None
    return "utf-16-be" if start[0] == 0 else "utf-16-le"


def _integer(text: str) -> int:
    if len(text.lstrip("-")) > _MAX_NUMBER_LENGTH:
        raise ValueError("Number value length exceeds the maximum allowed")
    return int(text)


def _refuse_constant(name: str) -> Node:
    message = f"Non-standard token '{name}'"
    raise ValueError(message)
