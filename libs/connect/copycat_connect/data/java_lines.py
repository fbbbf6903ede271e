"""Java's texts of many values at once: the values of a topic mostly have the same fields."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import overload

from copycat_connect.data.columns import MapColumns
from copycat_connect.data.java import map_template, to_text, to_text_under
from copycat_connect.data.schema import ConnectValue, Schema
from copycat_connect.data.struct import Struct

#: Types that `%s` writes as Java does.
_PLAIN = frozenset({str, int})
#: Types whose text may depend on their schema: what 32-bit floats look like.
_UNDER_SCHEMA = frozenset({float, list, tuple, dict})


def to_lines(
    values: Sequence[ConnectValue], end: str, schemas: Callable[[], Sequence[Schema | None]] | None = None
) -> str:
    """Return Java's toString of every value, each with a line end.

    Args:
        values: The values.
        end: The line end.
        schemas: Returns the schema of each value; asked only when a text depends on them; None means
            that all are schemaless.
    """
    if not values:
        return ""
    if isinstance(values, MapColumns):
        return _lines_of_columns(values, end) or to_lines(values.maps, end)
    kinds = set(map(type, values))
    text = None
    if kinds == {dict}:
        text = _lines_of_maps(values, end)
    elif kinds == {Struct}:
        text = _lines_of_structs(values, end)
    if text is not None:
        return text
    if schemas is None or kinds.isdisjoint(_UNDER_SCHEMA):
        return end.join([*map(to_text, values), ""])
    return end.join([*map(to_text_under, schemas(), values), ""])


def line_bytes(
    values: Sequence[ConnectValue], end: str, schemas: Callable[[], Sequence[Schema | None]] | None = None
) -> bytes:
    """Return the UTF-8 of what `to_lines` returns; half of a surrogate pair becomes a question mark."""
    if isinstance(values, Texts):
        return end.encode().join([*values.encoded, b""])
    if isinstance(values, MapColumns):  # which makes no maps unless it is read as a sequence
        return to_lines(values, end).encode("utf-8", "replace")
    try:
        text = end.join([*values, ""])
    except TypeError:
        text = to_lines(values, end, schemas)
    return text.encode("utf-8", "replace")


def _lines_of_columns(maps: MapColumns, end: str) -> str | None:
    """Write maps whose keys are texts without making them; lists and maps in them are left to `to_text`."""
    template = map_template(tuple(maps.columns))
    if template is None:
        return None
    fields, columns = [], []
    for column in maps.columns.values():
        if _is_one_object(column):
            fields.append(to_text(column[0]).replace("%", "%%"))
        else:
            fields.append("%s")
            columns.append(column if _PLAIN.issuperset(map(type, column)) else map(to_text, column))
    template = template.replace("%%", "%%%%") % tuple(fields) + end
    return template * len(maps) % tuple(chain.from_iterable(zip(*columns, strict=True)))


def _is_one_object(column: Sequence[ConnectValue]) -> bool:
    """Say whether a field is one and the same object in all maps; equal ones may have different texts."""
    return column[0] is column[-1] and len(set(map(id, column))) == 1


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


class Texts(Sequence[str]):
    """What a converter makes of many encoded texts, for whoever writes them on in the same encoding."""

    __slots__ = ("_texts", "encoded")

    encoded: Sequence[bytes]
    """The UTF-8 of each."""

    def __init__(self, encoded: Sequence[bytes]) -> None:
        """Wrap texts, each of them valid UTF-8; nothing is checked."""
        self.encoded = encoded
        self._texts: list[str] | None = None

    def __len__(self) -> int:
        return len(self.encoded)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        return self._decoded()[index]

    def __iter__(self) -> Iterator[str]:
        return iter(self._decoded())

    def _decoded(self) -> list[str]:
        if self._texts is None:
            self._texts = [data.decode() for data in self.encoded]
        return self._texts
