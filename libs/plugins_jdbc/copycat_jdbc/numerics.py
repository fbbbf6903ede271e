"""Schemas of NUMERIC and DECIMAL columns, by `numeric.mapping`."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum

from copycat_connect.data import Schema, SchemaType, decimal_schema

#: More digits than this do not fit 64 bits.
_MOST_DIGITS = 18
_LEAST_SCALE = -84
#: The published scale of a column that declares no digits: such a column holds decimals of any scale.
_OPEN_SCALE = 127
PRECISION = "connect.decimal.precision"


class NumericMapping(StrEnum):
    """What becomes of decimal columns."""

    NONE = "none"
    PRECISION_ONLY = "precision_only"
    BEST_FIT = "best_fit"
    BEST_FIT_EAGER_DOUBLE = "best_fit_eager_double"


def numeric_schema(mapping: NumericMapping, precision: int, scale: int, *, optional: bool) -> Schema:
    """Return the schema of a decimal column.

    Args:
        mapping: `numeric.mapping`.
        precision: How many digits there are; 0 when the column does not say, which is then a Decimal of 127
            digits behind the point, or a double where those are wanted.
        scale: How many of them are behind the point.
        optional: Whether the column may be null.
    """
    fits, whole = precision <= _MOST_DIGITS, _LEAST_SCALE <= scale < 1
    match mapping:
        case NumericMapping.PRECISION_ONLY if precision and scale == 0 and fits:
            return _integer(precision, optional=optional)
        case NumericMapping.BEST_FIT | NumericMapping.BEST_FIT_EAGER_DOUBLE if precision and whole and fits:
            return _integer(precision, optional=optional)
        case NumericMapping.BEST_FIT if scale > 0 and fits:
            return Schema(SchemaType.FLOAT64, optional=optional)
        case NumericMapping.BEST_FIT_EAGER_DOUBLE if scale > 0 or not precision:
            return Schema(SchemaType.FLOAT64, optional=optional)
        case _:
            schema = decimal_schema(scale if precision or scale else _OPEN_SCALE, optional=optional)
            return replace(schema, parameters={**(schema.parameters or {}), PRECISION: str(precision)})


def _integer(precision: int, *, optional: bool) -> Schema:
    for most, type in ((2, SchemaType.INT8), (4, SchemaType.INT16), (9, SchemaType.INT32)):
        if precision <= most:
            return Schema(type, optional=optional)
    return Schema(SchemaType.INT64, optional=optional)
