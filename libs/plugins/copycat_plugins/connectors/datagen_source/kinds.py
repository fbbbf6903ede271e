"""Kinds of fields: each makes a block's column out of the seed, the field's path and the block's number."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from copycat_connect.data import (
    BOOLEAN_SCHEMA,
    FLOAT64_SCHEMA,
    INT64_SCHEMA,
    STRING_SCHEMA,
    TIMESTAMP_SCHEMA,
    ConnectValue,
    Schema,
)

from copycat_plugins.connectors.datagen_source.blocks import BLOCK, chance_bytes, chance_words

Column = list[ConnectValue]
Columns = Mapping[str, Column]
Make = Callable[[int, str, int, Columns], Column]
"""Takes the seed, the field's path, the block and the columns of the fields before it."""

_LONG = range(-(2**63), 2**63)
_DOUBLE_STEP = 2.0**-53
_DIGITS = bytes(b"0123456789"[byte % 10] for byte in range(256))
_LETTERS = bytes(b"abcdefghijklmnopqrstuvwxyz"[byte % 26] for byte in range(256))
_WILDCARDS = {"#": _DIGITS, "?": _LETTERS}
_TOKEN = re.compile(r"\{(?P<field>[^{}]*)\}|(?P<wildcard>[#?])|(?P<text>[^{}#?]+)")
_OPTION_SCHEMAS: Mapping[type, Schema] = {
    str: STRING_SCHEMA,
    bool: BOOLEAN_SCHEMA,
    int: INT64_SCHEMA,
    float: FLOAT64_SCHEMA,
}


class FieldError(ValueError):
    """A field is described wrongly; the text says what is wrong and what would do."""


@dataclass(frozen=True, slots=True)
class FieldKind:
    """A field's schema, and how its values are made."""

    schema: Schema
    make: Make


def sequence(start: ConnectValue = 0, step: ConnectValue = 1) -> FieldKind:
    """`start + step * number`, INT64."""
    first, by = _long("start", start), _long("step", step)

    def make(seed: int, path: str, block: int, before: Columns) -> Column:
        del seed, path, before
        number = block * BLOCK
        return [first + by * each for each in range(number, number + BLOCK)]

    return FieldKind(INT64_SCHEMA, make)


def integer(min: ConnectValue, max: ConnectValue) -> FieldKind:
    """Any number from `min` to `max`, both included, INT64."""
    low, high = _long("min", min), _long("max", max)
    if high < low:
        raise FieldError(f"max must not be below min; got min {low} and max {high}")
    span = high - low + 1

    def make(seed: int, path: str, block: int, before: Columns) -> Column:
        del before
        return [low + word % span for word in chance_words(seed, path, block)]

    return FieldKind(INT64_SCHEMA, make)


def double(min: ConnectValue, max: ConnectValue) -> FieldKind:
    """Any number from `min` to `max`, FLOAT64."""
    low, high = _number("min", min), _number("max", max)
    if high < low:
        raise FieldError(f"max must not be below min; got min {low} and max {high}")
    scale = (high - low) * _DOUBLE_STEP

    def make(seed: int, path: str, block: int, before: Columns) -> Column:
        del before
        return [low + (word >> 11) * scale for word in chance_words(seed, path, block)]

    return FieldKind(FLOAT64_SCHEMA, make)


def choice(options: ConnectValue) -> FieldKind:
    """One of `options`; an option that stands there twice comes twice as often."""
    if not isinstance(options, list) or not options:
        raise FieldError("options must be a list of at least one value")
    types = {type(option) for option in options}
    schema = _OPTION_SCHEMAS.get(next(iter(types))) if len(types) == 1 else None
    if schema is None:
        raise FieldError("options must all be texts, all integers, all decimals or all booleans")
    if types == {int}:
        options = [_long("options", option) for option in options]
    count = len(options)

    def make(seed: int, path: str, block: int, before: Columns) -> Column:
        del before
        return [options[word % count] for word in chance_words(seed, path, block)]

    return FieldKind(schema, make)


def text(pattern: ConnectValue) -> FieldKind:
    """`pattern` with a digit for `#`, a lower-case letter for `?` and an earlier field for `{name}`."""
    parts, template = _parts(pattern)

    def make(seed: int, path: str, block: int, before: Columns) -> Column:
        columns: list[Sequence[ConnectValue]] = []
        for place, part in enumerate(parts):
            if isinstance(part, bytes):
                drawn = chance_bytes(seed, f"{path}#{place}", block, BLOCK)
                columns.append(drawn.translate(part).decode("ascii"))
            elif part in before:
                columns.append(before[part])
            else:
                raise FieldError(f"pattern names {part!r}, which is no field before this one")
        return [template % row for row in zip(*columns, strict=True)] if columns else [template % ()] * BLOCK

    return FieldKind(STRING_SCHEMA, make)


def timestamp(start: ConnectValue = "2026-01-01T00:00:00Z", step_ms: ConnectValue = 1000) -> FieldKind:
    """`start` and so many milliseconds more with each number, a Connect Timestamp."""
    millis = _long("step.ms", step_ms)
    try:
        first = datetime.fromisoformat(start)
    except (TypeError, ValueError) as error:
        raise FieldError("start must be a time such as 2026-01-01T00:00:00Z") from error
    first = first.astimezone(UTC) if first.tzinfo else first.replace(tzinfo=UTC)

    def make(seed: int, path: str, block: int, before: Columns) -> Column:
        del seed, path, before
        number = block * BLOCK
        at, step = first + timedelta(milliseconds=millis * number), timedelta(milliseconds=millis)
        return [at + step * place for place in range(BLOCK)]

    return FieldKind(TIMESTAMP_SCHEMA, make)


def uuid() -> FieldKind:
    """A random UUID (version 4) that the seed decides, as text."""

    def make(seed: int, path: str, block: int, before: Columns) -> Column:
        del before
        drawn = chance_bytes(seed, path, block, BLOCK * 16).hex()
        return [_uuid(drawn[at : at + 32]) for at in range(0, BLOCK * 32, 32)]

    return FieldKind(STRING_SCHEMA, make)


def _uuid(digits: str) -> str:
    variant = "89ab"[int(digits[16], 16) & 3]
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}"


KINDS: Mapping[str, Callable[..., FieldKind]] = {
    "sequence": sequence,
    "integer": integer,
    "double": double,
    "choice": choice,
    "text": text,
    "timestamp": timestamp,
    "uuid": uuid,
}


def _parts(pattern: ConnectValue) -> tuple[list[str | bytes], str]:
    """Return what fills a template, names of fields or tables of characters, and the template."""
    if not isinstance(pattern, str):
        raise FieldError("pattern must be a text such as ORD-####")
    parts: list[str | bytes] = []
    template, place = "", 0
    while found := _TOKEN.match(pattern, place):
        place = found.end()
        if found["text"] is not None:
            template += found["text"].replace("%", "%%")
            continue
        template += "%s"
        parts.append(_WILDCARDS[found["wildcard"]] if found["wildcard"] else found["field"])
    if place < len(pattern):
        raise FieldError(f"pattern has a brace without its other one at character {place + 1}")
    return parts, template


def _long(name: str, value: ConnectValue) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value not in _LONG:
        raise FieldError(f"{name} must be an integer of 64 bits; got {type(value).__name__} {value!r}")
    return value


def _number(name: str, value: ConnectValue) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise FieldError(f"{name} must be a number; got {type(value).__name__} {value!r}")
    return float(value)
