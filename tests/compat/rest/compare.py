"""Compares two answers field by field."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from tests.compat.rest.step import Answer

ABSENT: Final = "<absent>"


@dataclass(frozen=True, slots=True)
class Disagreement:
    """One field that the two systems answered differently."""

    field: str
    """E.g. `status`, `headers.allow`, `body.configs.topics.definition.type`."""
    theirs: Any
    ours: Any


def disagreements(theirs: Answer, ours: Answer) -> list[Disagreement]:
    """Return the fields that differ, in order."""
    return [
        *_between("status", theirs.status, ours.status),
        *_between("headers", dict(theirs.headers), dict(ours.headers)),
        *_between("body", _keyed(theirs.body), _keyed(ours.body)),
    ]


def _between(field: str, theirs: Any, ours: Any) -> Iterator[Disagreement]:
    if isinstance(theirs, dict) and isinstance(ours, dict):
        for name in {**theirs, **ours}:
            yield from _between(f"{field}.{name}", theirs.get(name, ABSENT), ours.get(name, ABSENT))
    elif isinstance(theirs, list) and isinstance(ours, list) and len(theirs) == len(ours):
        for index, (one, other) in enumerate(zip(theirs, ours, strict=True)):
            yield from _between(f"{field}[{index}]", one, other)
    elif theirs != ours or type(theirs) is not type(ours):
        yield Disagreement(field, theirs, ours)


def _keyed(value: Any) -> Any:
    """Return lists of config keys and of plugins as maps by name, so that one more is one difference.

    Their order stays beside; that of a converter's own keys is a hash map's and says nothing.
    """
    match value:
        case dict():
            return {name: _keyed(item) for name, item in value.items()}
        case [{"name": _, "type": _}, *_] | [{"value": {"name": _}}, *_] | [{"class": _}, *_]:
            names = [_name(item) for item in value]
            ordered = " ".join(name for name in names if ".converter." not in name)
            return {**dict(zip(names, map(_keyed, value), strict=True)), "order of keys": ordered}
        case list():
            return [_keyed(item) for item in value]
        case _:
            return value


def _name(item: dict[str, Any]) -> str:
    found = item.get("class") or item.get("name") or item["value"]["name"]
    return str(found)
