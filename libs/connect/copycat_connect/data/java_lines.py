"""Java's texts of many values at once: the values of a topic mostly have the same fields."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from copycat_connect.data.java import map_template, to_text
from copycat_connect.data.struct import Struct
from copycat_connect.data.value import ConnectValue

#: Types that `%s` writes as Java does.
_PLAIN = frozenset({str, int})


def to_lines(values: Sequence[ConnectValue], end: str) -> str:
    """Return Java's toString of every value, each with a line end."""
    if not values:
        return ""
    kinds = set(map(type, values))
    text = None
    if kinds == {dict}:
        text = _lines_of_maps(values, end)
    elif kinds == {Struct}:
        text = _lines_of_structs(values, end)
    return end.join([*map(to_text, values), ""]) if text is None else text


def _lines_of_maps(values: Sequence[dict[ConnectValue, ConnectValue]], end: str) -> str | None:
    names = tuple(values[0])
    if list(map(tuple, values)).count(names) != len(values):
        return None
    template = map_template(names)
    return None if template is None else _filled(template, end, [[*value.values()] for value in values])


def _lines_of_structs(values: Sequence[Struct], end: str) -> str | None:
    schema = values[0].schema
    if not all(value.schema is schema for value in values):
        return None
    return _filled(schema.struct_template, end, [value.values for value in values])


def _filled(template: str, end: str, rows: Sequence[Sequence[ConnectValue]]) -> str | None:
    items = tuple(chain.from_iterable(rows))
    return (template + end) * len(rows) % items if _PLAIN.issuperset(map(type, items)) else None
