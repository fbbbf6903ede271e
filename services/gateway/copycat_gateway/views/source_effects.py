"""What the move of a source partition does, in words: as its connector says, else by its numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

UNTOLD = "how much that is, only the connector's system knows"


def told_by_connector(repeated: int | None, skipped: int | None, unit: str, *, added: bool) -> str:
    """Return what the connector counted."""
    words = [
        f"{verb} at most {count} {unit}" if count is not None else f"may {verb.removesuffix('s')} some {unit}"
        for verb, count in (("repeats", repeated), ("skips", skipped))
        if count != 0
    ]
    said = " and ".join(words) or "repeats and skips nothing"
    return f"{said}; this partition had no offset" if added else said


def told_by_numbers(before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> str:
    """Return what can be seen from two offsets of a connector that explains nothing."""
    if before == after:
        return "repeats and skips nothing"
    if before is None:
        return "this partition had no offset: it is added"
    if after is None:
        return f"begins again from the start; {UNTOLD}"
    steps = {
        field: after[field] - before[field]
        for field in before
        if _is_number(before[field]) and _is_number(after.get(field)) and before[field] != after[field]
    }
    if not steps:
        return "what is repeated or skipped cannot be told"
    words = [f"{field} {'back' if step < 0 else 'forward'} by {abs(step)}" for field, step in steps.items()]
    verb = {(True, False): "repeats", (False, True): "skips"}.get(
        (any(step < 0 for step in steps.values()), any(step > 0 for step in steps.values())), "moves"
    )
    return f"{verb}: {', '.join(words)}; {UNTOLD}"


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
