"""Schemas of Connect's data model with values that fit them, for tests of formats."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, NamedTuple, TypeVar

from copycat_connect.config.settings import Settings
from copycat_connect.data import (
    BOOLEAN_SCHEMA,
    BYTES_SCHEMA,
    DATE_SCHEMA,
    FLOAT32_SCHEMA,
    FLOAT64_SCHEMA,
    INT8_SCHEMA,
    INT16_SCHEMA,
    INT32_SCHEMA,
    INT64_SCHEMA,
    STRING_SCHEMA,
    TIME_SCHEMA,
    TIMESTAMP_SCHEMA,
    ConnectValue,
    Schema,
    SchemaBuilder,
    Struct,
    decimal_schema,
)
from hypothesis import strategies as st

S = TypeVar("S", bound=Settings)


class Sample(NamedTuple):
    """A schema and a value of it."""

    schema: Schema
    value: ConnectValue


def options(kind: type[S], **values: Any) -> S:
    """Return settings with these values, and defaults for all others."""
    return kind(**{**vars(kind.parse({})), **values})


def _integers(bits: int) -> st.SearchStrategy[int]:
    return st.integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
_MILLIS = st.integers(-(10**12), 10**13)
PLAIN: dict[Schema, st.SearchStrategy[ConnectValue]] = {
    INT8_SCHEMA: _integers(8),
    INT16_SCHEMA: _integers(16),
    INT32_SCHEMA: _integers(32),
    INT64_SCHEMA: _integers(64),
    FLOAT32_SCHEMA: st.floats(width=32, allow_nan=False, allow_infinity=False),
    FLOAT64_SCHEMA: st.floats(allow_nan=False, allow_infinity=False),
    BOOLEAN_SCHEMA: st.booleans(),
    STRING_SCHEMA: TEXTS,
    BYTES_SCHEMA: st.binary(max_size=8),
    decimal_schema(3): st.decimals(places=3, allow_nan=False, allow_infinity=False).map(Decimal),
    DATE_SCHEMA: st.dates(date(1800, 1, 1), date(9000, 1, 1)),
    TIME_SCHEMA: st.integers(0, 86_399_999).map(
        lambda millis: (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=millis)).time()
    ),
    TIMESTAMP_SCHEMA: _MILLIS.map(
        lambda millis: datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=millis)
    ),
}
"""Every primitive and logical type; no infinity, for which JSON has no number."""
EXAMPLES: tuple[tuple[Schema, ConnectValue], ...] = (
    (INT8_SCHEMA, -128),
    (INT16_SCHEMA, 32767),
    (INT32_SCHEMA, -(2**31)),
    (INT64_SCHEMA, 2**63 - 1),
    (FLOAT32_SCHEMA, 1.5),
    (FLOAT64_SCHEMA, 0.1),
    (BOOLEAN_SCHEMA, True),
    (STRING_SCHEMA, "Grüße"),
    (BYTES_SCHEMA, b"\x00\xff"),
    (decimal_schema(2), Decimal("-123.45")),
    (DATE_SCHEMA, date(2024, 2, 29)),
    (TIME_SCHEMA, time(23, 59, 59, 999000)),
    (TIMESTAMP_SCHEMA, datetime(1969, 12, 31, 23, 59, 59, 999000, tzinfo=UTC)),
)
"""One value of each."""


@st.composite
def samples(draw: st.DrawFn, depth: int = 2, text_keys: bool = False) -> Sample:
    """Draw a schema, as deep as that, and a value."""
    kind = draw(st.sampled_from(("plain", "array", "map", "struct") if depth else ("plain",)))
    if kind == "plain":
        schema = draw(st.sampled_from(list(PLAIN)))
        sample = Sample(schema, draw(PLAIN[schema]))
    elif kind == "array":
        item = draw(samples(depth - 1, text_keys))
        sample = Sample(SchemaBuilder.array(item.schema).build(), [item.value] * draw(st.integers(0, 3)))
    elif kind == "map":
        keys = (STRING_SCHEMA,) if text_keys else (STRING_SCHEMA, INT32_SCHEMA)
        key_schema = draw(st.sampled_from(keys))
        item = draw(samples(depth - 1, text_keys))
        keyed = draw(st.dictionaries(PLAIN[key_schema], st.just(item.value), max_size=2))
        name = draw(st.uuids()).hex
        schema = SchemaBuilder.map(key_schema, item.schema).build()
        sample = Sample(replace(schema, name=None if key_schema is STRING_SCHEMA else f"m.M{name}"), keyed)
    else:
        sample = draw(structs(depth - 1, text_keys))
    if draw(st.booleans()):
        schema = replace(sample.schema, optional=True)
        value = Struct.of_valid(schema, sample.value.values) if kind == "struct" else sample.value
        return Sample(schema, value)
    return sample


@st.composite
def structs(draw: st.DrawFn, depth: int = 2, text_keys: bool = False) -> Sample:
    """Draw a struct of a name of its own, and a value, with nulls where they may be."""
    builder = SchemaBuilder.struct().name(f"test.S{draw(st.uuids()).hex}")
    values = []
    for place in range(draw(st.integers(1, 4))):
        member = draw(samples(depth, text_keys))
        builder.field(f"f{place}", member.schema)
        values.append(None if member.schema.optional and draw(st.booleans()) else member.value)
    schema = builder.build()
    return Sample(schema, Struct.of_valid(schema, values))


@st.composite
def described(draw: st.DrawFn) -> Schema:
    """Draw a struct schema whose fields carry docs, versions, parameters and defaults."""
    builder = SchemaBuilder.struct().name(f"test.D{draw(st.uuids()).hex}")
    for place in range(draw(st.integers(1, 4))):
        schema = draw(st.sampled_from(list(PLAIN)))
        default = draw(st.one_of(st.none(), PLAIN[schema]))
        extra = draw(st.dictionaries(TEXTS.map("p".__add__), TEXTS, max_size=2))
        found = replace(
            schema,
            optional=draw(st.booleans()),
            default=default,
            doc=draw(st.one_of(st.none(), TEXTS)),
            parameters={**(schema.parameters or {}), **extra} or None,
        )
        if found.name is None:
            found = replace(found, version=draw(st.one_of(st.none(), st.integers(0, 9))))
        builder.field(f"f{place}", found)
    return builder.doc("about it").version(draw(st.integers(1, 9))).build()
