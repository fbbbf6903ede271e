"""Nodes: parsed JSON, and which values that were read at full speed are surely the ones Jackson reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, TypeAlias

from copycat_connect.data import ConnectValue

Node: TypeAlias = Any
"""Parsed JSON: None, bool, int, float, Decimal, str, list or dict; or MISSING."""
_NUMBERS: Final = frozenset({int, float})
SIMPLE: Final = _NUMBERS | {str, bool, type(None)}
"""Types of values that hold no others."""
_LIMIT: Final = 1 << 63


class _Missing:
    """Where JSON should stand and does not."""


MISSING: Final = _Missing()
"""What Jackson finds in an empty message: nothing, which is not null."""


def is_exact(column: Sequence[ConnectValue]) -> bool:
    """Return whether nothing in a column must be looked at more closely.

    Jackson cuts integers to 64 bits, which others read as longer ones or as fractions, and loses the sign of
    zeros; and what is no simple value may hold such numbers.
    """
    kinds = set(map(type, column))
    if not kinds <= SIMPLE:
        return False
    for kind in kinds & _NUMBERS:
        numbers = column if len(kinds) == 1 else [item for item in column if type(item) is kind]
        if not -_LIMIT < min(numbers) <= max(numbers) < _LIMIT or (kind is float and 0.0 in numbers):
            return False
    return True
