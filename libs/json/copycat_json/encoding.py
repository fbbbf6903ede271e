"""JSON text as Jackson writes it, at the speed of orjson.

Both write the same bytes but for floats outside of 0.001 to 10,000,000, control characters and surrogate
pairs. These are looked for, and only where there may be one the slow way is taken.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from itertools import chain

import orjson
from copycat_connect.data.java import double_text
from copycat_connect.errors import DataError

from copycat_json.node import Node

_MAPS = frozenset({dict})
_NO_FLOATS = frozenset({str, int, bool, type(None)})
_DIGITS_TO_ZERO = bytes(ord("0") if ord("0") <= code <= ord("9") else code for code in range(256))
_NINETEEN_DIGITS = b"0" * 19
_TO_ESCAPE = re.compile(rb"\\u00[01][0-9a-f]|\\.|[\xf0-\xf4][\x80-\xbf]{3}", re.DOTALL)
_SURROGATE = re.compile("([\ud800-\udfff])")
# The line end is cut off again: that copies the text out of a kilobyte of buffer, which orjson then uses for
# the next value. Kept, a thousand of those buffers cost ten times as much as the writing.
_DUMP_OPTIONS = orjson.OPT_APPEND_NEWLINE | orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_DATACLASS
_WRITE_FAILED = "Converting Kafka Connect data to byte[] failed due to serialization error: "


def java_number(value: float) -> Node:
    """Return what `write` turns into Java's text of a double."""
    if _is_plain(value):
        return value
    text = double_text(value)
    return orjson.Fragment(text) if math.isfinite(value) else text


def raw_number(text: str) -> Node:
    """Return what `write` turns into exactly this number."""
    return orjson.Fragment(text)


def write(node: Node) -> bytes:
    """Write a node whose floats went through `java_number`.

    Raises:
        DataError: It holds what JSON cannot say.
    """
    try:
        encoded = orjson.dumps(node, None, _DUMP_OPTIONS)[:-1]
    except TypeError:
        encoded = _write_with_surrogates(node)
    return escape_as_jackson(encoded)


def escape_as_jackson(encoded: bytes) -> bytes:
    r"""Write `\u001f` as `\u001F`, and what is beyond the first 65,536 characters as two escapes."""
    if b"\\u00" in encoded or not encoded.isascii():
        return _TO_ESCAPE.sub(_escape, encoded)
    return encoded


def _escape(match: re.Match[bytes]) -> bytes:
    found = match[0]
    if len(found) == 6:
        return found[:2] + found[2:].upper()
    if found[:1] == b"\\":
        return found
    beyond = ord(found.decode()) - 0x10000
    return b"\\u%04X\\u%04X" % (0xD800 + (beyond >> 10), 0xDC00 + (beyond & 0x3FF))


def _write_with_surrogates(node: Node) -> bytes:
    """Write text that holds half a surrogate pair, which Jackson escapes and orjson refuses."""
    try:
        return orjson.dumps(_without_surrogates(node), None, _DUMP_OPTIONS)[:-1]
    except (RecursionError, TypeError) as error:
        raise DataError(_WRITE_FAILED) from error


def _without_surrogates(node: Node) -> Node:
    match node:
        case str() if _SURROGATE.search(node):
            return orjson.Fragment(b'"' + b"".join(map(_quote, _SURROGATE.split(node))) + b'"')
        case dict():
            return {key: _without_surrogates(item) for key, item in node.items()}
        case list():
            return [_without_surrogates(item) for item in node]
        case _:
            return node


def _quote(text: str) -> bytes:
    return b"\\u%04X" % ord(text) if _SURROGATE.fullmatch(text) else orjson.dumps(text)[1:-1]


def write_plain_batch(values: Sequence[Node], prepare: Callable[[Node], Node]) -> list[bytes]:
    """Write many schemaless values.

    Args:
        values: The values.
        prepare: Turns a value into a node for `write`; called for those that may differ from Java's text.

    Raises:
        DataError: One cannot be written.
    """
    try:
        encoded = _dump_all(values)
    except TypeError:
        return [_write_prepared(value, prepare) for value in values]
    joined = b"".join(encoded)
    translated = joined.translate(_DIGITS_TO_ZERO)
    if _NINETEEN_DIGITS in translated:
        # There may be an integer beyond 64 bits, which Connect has no type for.
        return [_write_prepared(value, prepare) for value in values]
    # A float shows a point or an exponent, and what JSON has no number for became null.
    if not _are_flat_without_floats(values) and (b"." in joined or b"null" in joined or b"0e" in translated):
        for place, value in enumerate(values):
            if not floats_are_plain(value):
                encoded[place] = _write_prepared(value, prepare)
    return _escape_all(encoded, joined)


def _write_prepared(value: Node, prepare: Callable[[Node], Node]) -> bytes:
    try:
        return write(prepare(value))
    except RecursionError as error:
        raise DataError(_WRITE_FAILED) from error


def write_column(nodes: Sequence[Node]) -> list[bytes]:
    """Write nodes that are no maps and lists, at once: a line end separates them, since none stands within.

    Raises:
        TypeError: One holds half a surrogate pair.
    """
    joined = escape_as_jackson(orjson.dumps(nodes, None, orjson.OPT_INDENT_2))
    return joined[4:-2].split(b",\n  ")


def _dump_all(nodes: Sequence[Node]) -> list[bytes]:
    dump = orjson.dumps
    return [dump(node, None, _DUMP_OPTIONS)[:-1] for node in nodes]


def _escape_all(encoded: list[bytes], joined: bytes) -> list[bytes]:
    if b"\\u00" in joined or not joined.isascii():
        return [escape_as_jackson(each) for each in encoded]
    return encoded


def _are_flat_without_floats(values: Sequence[Node]) -> bool:
    if not _MAPS.issuperset(map(type, values)):
        return False
    return _NO_FLOATS.issuperset(map(type, chain.from_iterable(map(dict.values, values))))


def floats_are_plain(value: Node) -> bool:
    """Return whether orjson writes every float in there as Java does."""
    kind = type(value)
    if kind is dict:
        items = value.values()
    elif kind is list:
        items = value
    else:
        return kind is not float or _is_plain(value)
    for item in items:
        kind = type(item)
        if kind is float:
            if not _is_plain(item):
                return False
        elif (kind is dict or kind is list) and not floats_are_plain(item):
            return False
    return True


def _is_plain(value: float) -> bool:
    return 1e-3 <= value < 1e7 or -1e7 < value <= -1e-3 or value == 0
