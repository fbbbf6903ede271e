"""Structs of plain fields to JSON, column by column: the texts of a whole column come from one call.

What a column holds besides the expected is left to the writers, which go value by value; half surrogate pairs
and nulls with a default are left to whoever writes one record after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import repeat

from copycat_connect.data import ConnectValue, Schema, SchemaType, Struct, StructColumn, StructColumns
from copycat_connect.data.logical import DATE, DECIMAL, TIME, TIMESTAMP

from copycat_json import encoding
from copycat_json.node import Node
from copycat_json.writer import Writer

_MOMENTS = frozenset({DATE, TIME, TIMESTAMP})
_LOGICAL = _MOMENTS | {DECIMAL}
_BITS = {SchemaType.INT8: 8, SchemaType.INT16: 16, SchemaType.INT32: 32, SchemaType.INT64: 64}
_AS_THEY_ARE = {SchemaType.BOOLEAN: bool, SchemaType.STRING: str}
_STRUCTS = frozenset({Struct})
_NULL = type(None)


def has_rows(schema: Schema | None) -> bool:
    """Return whether a schema is a struct whose fields hold neither arrays, maps nor structs."""
    return (
        schema is not None
        and schema.type is SchemaType.STRUCT
        and schema.name not in _LOGICAL
        and bool(schema.field_list)
        and all(each.schema.type.is_primitive for each in schema.field_list)
    )


class JsonRowWriter:
    """Writes structs of one schema, which `has_rows`."""

    def __init__(
        self, schema: Schema, prefix: bytes, end: bytes, writer: Callable[[Schema | None], Writer]
    ) -> None:
        """Use what stands before and after each struct, and what makes the writer of a field."""
        self._schema = schema
        self._end = b"}" + end
        self._fields = [
            (field.schema, (b"," if place else prefix + b"{") + encoding.write(field.name) + b":")
            for place, field in enumerate(schema.field_list)
        ]
        self._writers = [writer(field.schema) for field in schema.field_list]

    def write(self, values: Sequence[ConnectValue]) -> list[bytes | None] | None:
        """Return the JSON of each value; None when one of them must be looked at more closely.

        Raises:
            DataError: A value cannot be written.
        """
        columns, encoded = self._columns(values)
        if columns is None:
            return None
        parts: list[Sequence[bytes] | repeat[bytes]] = []
        for (schema, name), writer, column in zip(self._fields, self._writers, columns, strict=True):
            if None in column and (not schema.optional or schema.default is not None):
                return None
            try:
                texts = encoding.write_column(_nodes(schema, column, writer, encoded=encoded))
            except TypeError:
                return None
            parts += (repeat(name), texts)
        return list(map(b"".join, zip(*parts, repeat(self._end), strict=False)))

    def _columns(self, values: Sequence[ConnectValue]) -> tuple[Sequence[StructColumn] | None, bool]:
        if isinstance(values, StructColumns) and values.encoded is not None:
            return (values.encoded if values.schema == self._schema else None), True
        structs = [*values]
        if not structs or not _STRUCTS.issuperset(map(type, structs)):
            return None, False
        schema = structs[0].schema
        if schema != self._schema or any(each.schema is not schema for each in structs):
            return None, False
        return list(zip(*(each.values for each in structs), strict=True)), False


def _nodes(schema: Schema, column: StructColumn, write: Writer, *, encoded: bool) -> Sequence[Node]:
    """Return what orjson writes just as Jackson would."""
    kinds = set(map(type, column)) - {_NULL}
    if schema.name in _LOGICAL and not (encoded and schema.name in _MOMENTS):
        return [*map(write, column)]
    if schema.type in _BITS:
        is_plain = kinds <= {int} and _fit(column, _BITS[schema.type])
    elif schema.type is SchemaType.FLOAT64:
        is_plain = kinds <= {float} and _floats_are_plain(column)
    else:
        is_plain = kinds <= {_AS_THEY_ARE.get(schema.type)}
    return column if is_plain else [*map(write, column)]


def _fit(column: StructColumn, bits: int) -> bool:
    numbers = [item for item in column if item is not None] if None in column else column
    return -(1 << bits - 1) <= min(numbers, default=0) and max(numbers, default=0) < 1 << bits - 1


def _floats_are_plain(column: StructColumn) -> bool:
    """Return whether orjson writes all as Java does; what is no number shows in the sum."""
    numbers = [item for item in column if item is not None] if None in column else column
    total = sum(numbers)
    return total == total and min(numbers, default=1.0) >= 1e-3 and max(numbers, default=1.0) < 1e7  # noqa: PLR0124
