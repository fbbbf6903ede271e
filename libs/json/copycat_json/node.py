"""A node: parsed JSON."""

from __future__ import annotations

from typing import Any, Final, TypeAlias

Node: TypeAlias = Any
"""Parsed JSON: None, bool, int, float, Decimal, str, list or dict; or MISSING."""


class _Missing:
    """Where JSON should stand and does not."""


MISSING: Final = _Missing()
"""What Jackson finds in an empty message: nothing, which is not null."""
