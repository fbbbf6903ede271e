"""JSON nodes to structs of plain fields, many at a time: column by column instead of field by field.

Whatever is not plain is left to the readers, which go field by field.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from operator import itemgetter

from copycat_connect.data import ConnectValue, Schema, SchemaType, Struct
from copycat_connect.data.logical import DATE, DECIMAL, TIME, TIMESTAMP

from copycat_plugins.converters.json_node import Node

_LOGICAL = frozenset({DECIMAL, DATE, TIME, TIMESTAMP})
_CLASSES: dict[SchemaType, type] = {
    SchemaType.INT8: int,
    SchemaType.INT16: int,
    SchemaType.INT32: int,
    SchemaType.INT64: int,
    SchemaType.FLOAT64: float,
    SchemaType.BOOLEAN: bool,
    SchemaType.STRING: str,
}
_BITS = {SchemaType.INT8: 8, SchemaType.INT16: 16, SchemaType.INT32: 32, SchemaType.INT64: 64}
_MAPS = frozenset({dict})
_NULL = type(None)


def is_flat(schema: Schema | None) -> bool:
    """Return whether a schema is a struct whose fields are all of plain types."""
    return (
        schema is not None
        and schema.type is SchemaType.STRUCT
        and schema.name not in _LOGICAL
        and bool(schema.field_list)
        and all(
            each.schema.type in _CLASSES and each.schema.name not in _LOGICAL for each in schema.field_list
        )
    )


def read_structs(schema: Schema, nodes: Sequence[Node]) -> list[ConnectValue] | None:
    """Turn nodes into structs of a flat schema; None when one of them must be looked at more closely."""
    if not _MAPS.issuperset(map(type, nodes)):
        return None
    names = [field.name for field in schema.field_list]
    try:
        rows = [[*each] for each in map(itemgetter(*names), nodes)] if len(names) > 1 else None
    except KeyError:
        rows = None
    if rows is None:
        rows = [list(map(node.get, names)) for node in nodes]
    if not _columns_fit(schema, rows):
        return None
    return list(map(partial(Struct.of_valid, schema), rows))


def _columns_fit(schema: Schema, rows: Sequence[Sequence[ConnectValue]]) -> bool:
    """Return whether every value is just what its field holds; null is where it stays null."""
    for field, column in zip(schema.field_list, zip(*rows, strict=True), strict=False):
        kinds = set(map(type, column))
        wanted = _CLASSES[field.schema.type]
        if kinds != {wanted}:
            nullable = field.schema.optional and field.schema.default is None
            if not (nullable and kinds <= {wanted, _NULL}):
                return False
        bits = _BITS.get(field.schema.type)
        if bits is not None:
            numbers = column if kinds == {wanted} else [item for item in column if item is not None]
            if not -(1 << bits - 1) <= min(numbers, default=0) <= max(numbers, default=0) < 1 << bits - 1:
                return False
    return True
