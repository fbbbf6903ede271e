"""Functions as a user writes them."""

from __future__ import annotations

from typing import Any


def order(line: str) -> dict[str, Any] | None:
    """Read `id,amount`; drops comments, fails on what is neither."""
    if line.startswith("#"):
        return None
    number, amount = line.split(",")
    return {"id": int(number), "amount": float(amount)}


def shout(text: str) -> str:
    """Accept text and return text."""
    return text.upper()


def two(first: str, second: str) -> str:
    """Need more arguments than a transformation gives."""
    return first + second
