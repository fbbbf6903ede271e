"""JSON objects of one shape, read straight into columns: no map for any of them.

The first object of a batch shows the fields and their types. A text that is anything else, or that Jackson
may read differently, ends the attempt: whoever asked reads the batch as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

import msgspec
import orjson
from copycat_connect.bounded_cache import BoundedCache
from copycat_connect.data import ConnectValue, MapColumns

from copycat_json.node import SIMPLE, is_exact

#: What a field is read as whose first value is of such a type; all may be null later.
_TYPES: Final[dict[type, Any]] = {str: str | None, int: int | None, bool: bool | None}
#: Of which nothing need be looked at: orjson, Jackson and msgspec read them alike.
_SAFE: Final = frozenset({str, bool})
_MAX_SHAPES: Final = 16
#: Batches in a row that were not of one shape, after which no other is tried.
_PATIENCE: Final = 8
_NOT_IN_NAMES: Final = frozenset('"\\')

Shape: TypeAlias = tuple[tuple[str, type], ...]


class ShapeReader:
    """Reads batches of JSON; used by one thread."""

    def __init__(self) -> None:
        self._decoders = BoundedCache(_MAX_SHAPES, _decoder)
        self._patience = _PATIENCE

    def read(self, datas: Sequence[bytes]) -> MapColumns | None:
        """Return objects as columns, in the first one's order of fields; None unless that is surely right."""
        if not self._patience or not datas:
            return None
        try:
            columns = self._read(datas)
        except (msgspec.MsgspecError, ValueError):  # malformed, no UTF-8, of another shape
            columns = None
        self._patience = self._patience - 1 if columns is None else _PATIENCE
        return columns

    def _read(self, datas: Sequence[bytes]) -> MapColumns | None:
        first = orjson.loads(datas[0])
        shape = _shape_of(first)
        if shape is None:
            return None
        rows = map(msgspec.structs.astuple, map(self._decoders.get(shape), datas))
        columns = [*zip(*rows, strict=True)]
        looked_at = (column for column, (_, kind) in zip(columns, shape, strict=True) if kind not in _SAFE)
        if not all(map(is_exact, looked_at)):
            return None
        return MapColumns(dict(zip(first, columns, strict=True)), len(datas))


def _shape_of(value: ConnectValue) -> Shape | None:
    """Return names and types of the fields; None without any, or when they are not plain."""
    if type(value) is not dict or not value:
        return None
    shape = tuple((name, type(item)) for name, item in value.items())
    plain = all(
        kind in SIMPLE and name.isascii() and name.isprintable() and _NOT_IN_NAMES.isdisjoint(name)
        for name, kind in shape
    )
    return shape if plain else None


def _decoder(shape: Shape) -> Callable[[bytes], msgspec.Struct]:
    """Return what decodes an object of a shape; the fields are in the shape's order."""
    names = [f"field_{place}" for place in range(len(shape))]
    anything = str | int | float | bool | None
    struct = msgspec.defstruct(
        "Shape",
        [(name, _TYPES.get(kind, anything)) for name, (_, kind) in zip(names, shape, strict=True)],
        rename={name: field for name, (field, _) in zip(names, shape, strict=True)},
        forbid_unknown_fields=True,
        gc=False,
    )
    return msgspec.json.Decoder(struct).decode
