"""Java's view of Python values: the class names and texts Kafka Connect prints, the integers it reads."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal

from copycat_connect.data.java_calendar import java_date_text
from copycat_connect.data.schema import ConnectValue, Schema

# Java replaces an encoded surrogate as one malformed sequence, Python byte by byte.
_ENCODED_SURROGATE = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]?")

#: Types that `%s` writes as Java does.
_PLAIN = frozenset({str, int})
_MAX_TEMPLATES = 256
_INTEGER = re.compile(r"(?P<sign>[+-]?)(?=[0-9])0*(?P<digits>[0-9]*)")
_MAX_DIGITS = 19
"""Digits of the largest integer of 64 bits."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLI = timedelta(milliseconds=1)
_templates: dict[tuple[ConnectValue, ...], str] = {}

_CLASSES: dict[type, str] = {
    bool: "java.lang.Boolean",
    float: "java.lang.Double",
    str: "java.lang.String",
    bytes: "[B",
    bytearray: "[B",
    memoryview: "java.nio.ByteBuffer",
    list: "java.util.ArrayList",
    tuple: "java.util.ArrayList",
    dict: "java.util.HashMap",
    Decimal: "java.math.BigDecimal",
    date: "java.util.Date",
    time: "java.util.Date",
    datetime: "java.util.Date",
}


def class_name(value: ConnectValue) -> str:
    """Return the name of the Java class that stands for a Python value, e.g. `java.lang.Long`."""
    if value is None:
        return "null"
    known = _CLASSES.get(type(value)) or getattr(type(value), "java_class", None)
    if known is not None:
        return str(known)
    if isinstance(value, int):
        return "java.lang.Long" if -(2**63) <= value < 2**63 else "java.math.BigInteger"
    return f"{type(value).__module__}.{type(value).__qualname__}"


def class_text(value: ConnectValue) -> str:
    """Return what Java prints for the class object, e.g. `class java.lang.Long`; `null` for None."""
    return "null" if value is None else f"class {class_name(value)}"


def parse_integer(text: str, bits: int) -> int | None:
    """Return the integer of so many bits that a text is, as `Long.parseLong` reads it; None for another text.

    Python refuses texts of more than 4,300 digits, with a text of its own; leading zeros count for neither.
    """
    found = _INTEGER.fullmatch(text)
    if found is None or len(found["digits"]) > _MAX_DIGITS:
        return None
    number = int(found["sign"] + (found["digits"] or "0"))
    return number if -(1 << bits - 1) <= number < 1 << bits - 1 else None


def double_text(value: float) -> str:
    """Return Java's Double.toString: `1.0`, `1.0E10`, `1.0E-5`, `NaN`, `-Infinity`."""
    return _float_text(value, repr(value))


def float_text(value: float) -> str:
    """Return Java's Float.toString: the shortest digits that give the same 32-bit number."""
    single = round_to_float32(value)
    return _float_text(single, shortest_float32(single))


def round_to_float32(value: float) -> float:
    """Return the nearest 32-bit number; infinite beyond their range."""
    try:
        return float(struct.unpack("<f", struct.pack("<f", value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def shortest_float32(value: float) -> str:
    """Return the shortest decimal text that names the same 32-bit number."""
    single = round_to_float32(value)
    for digits in range(1, 9):
        text = f"{single:.{digits}g}"
        if round_to_float32(float(text)) == single:
            return text
    return f"{single:.9g}"


def _float_text(value: float, shortest: str) -> str:
    if value != value:  # noqa: PLR0124  # NaN, the only value that differs from itself
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    digits, point = _digits(shortest)
    if len(digits) == 1:
        # Java wants two digits, and of those the nearest: 4.9E-324 and not 5.0E-324.
        digits, point = _digits(f"{value:.1e}")
    sign = "-" if math.copysign(1.0, value) < 0 else ""
    return sign + (_place_point(digits, point) if digits else "0.0")


def _digits(text: str) -> tuple[str, int]:
    """Return the digits of a number without zeros at either end, and how many stand before the point."""
    mantissa, _, exponent = text.lstrip("-").partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    return digits.rstrip("0"), len(digits) - len(fraction) + int(exponent or 0)


def _place_point(digits: str, point: int) -> str:
    """Write digits with the point after `point` of them, by Java's rule: plain from 1e-3 up to 1e7."""
    if not -3 < point <= 7:
        return f"{digits[0]}.{digits[1:] or '0'}E{point - 1}"
    if point <= 0:
        return "0." + "0" * -point + digits
    if len(digits) <= point:
        return digits + "0" * (point - len(digits)) + ".0"
    return f"{digits[:point]}.{digits[point:]}"


def decimal_text(value: Decimal) -> str:
    """Return Java's BigDecimal.toString."""
    return str(value)


def _date_text(value: ConnectValue) -> str:
    match value:
        case datetime():
            moment = value if value.tzinfo is not None else value.replace(tzinfo=UTC)
        case date():
            moment = datetime(value.year, value.month, value.day, tzinfo=UTC)
        case _:
            moment = datetime.combine(date(1970, 1, 1), value, tzinfo=UTC)
    return java_date_text((moment - _EPOCH) // _MILLI)


def _list_text(value: list[ConnectValue]) -> str:
    return "[" + ", ".join(map(to_text, value)) + "]"


def _map_text(value: dict[ConnectValue, ConnectValue]) -> str:
    template = map_template(tuple(value))
    if template is None:
        return "{" + ", ".join(f"{to_text(key)}={to_text(item)}" for key, item in value.items()) + "}"
    items = value.values()
    return template % (tuple(items) if _PLAIN.issuperset(map(type, items)) else tuple(map(to_text, items)))


def map_template(names: tuple[ConnectValue, ...]) -> str | None:
    """Return the text of maps with these keys, their values to be filled in; None unless all are texts."""
    template = _templates.get(names)
    if template is None and set(map(type, names)) <= {str}:
        template = "{" + ", ".join(name.replace("%", "%%") + "=%s" for name in names) + "}"
        if len(_templates) < _MAX_TEMPLATES:
            _templates[names] = template
    return template


def _bytes_text(value: bytes) -> str:
    # Java prints an identity here; contents say more and are the same in every run.
    return f"[B@{hash(bytes(value)) & 0xFFFFFFFF:x}"


_TEXTS: dict[type, Callable[[ConnectValue], str]] = {
    str: str,
    bool: lambda value: "true" if value else "false",
    int: str,
    float: double_text,
    type(None): lambda _: "null",
    bytes: _bytes_text,
    bytearray: _bytes_text,
    memoryview: _bytes_text,
    list: _list_text,
    tuple: _list_text,
    dict: _map_text,
    Decimal: decimal_text,
    date: _date_text,
    time: _date_text,
    datetime: _date_text,
}


def to_text(value: ConnectValue) -> str:
    """Return Java's toString of a value: `true`, `1.0E10`, `null`, `{a=1, b=x}`, `[1, 2]`, `Struct{a=1}`."""
    return _TEXTS.get(type(value), str)(value)


def to_text_under(schema: Schema | None, value: ConnectValue) -> str:
    """Return Java's toString of a value under its schema.

    The schema alone says which floats have 32 bits: `1.1` and not `1.100000023841858`, also inside of lists,
    maps and structs.
    """
    if schema is None or not schema.holds_float32:
        return to_text(value)
    match value:
        case float():
            return float_text(value)
        case list() | tuple():
            return "[" + ", ".join(to_text_under(schema.value, item) for item in value) + "]"
        case dict():
            pairs = (
                f"{to_text_under(schema.key, key)}={to_text_under(schema.value, item)}"
                for key, item in value.items()
            )
            return "{" + ", ".join(pairs) + "}"
        case _:
            return to_text(value)


def decode_utf8(encoded: bytes) -> str:
    """Decode UTF-8 as Java does: whatever is malformed becomes U+FFFD, never an error."""
    try:
        return encoded.decode("utf-8")
    except UnicodeDecodeError:
        return _ENCODED_SURROGATE.sub(b"\xef\xbf\xbd", encoded).decode("utf-8", "replace")
