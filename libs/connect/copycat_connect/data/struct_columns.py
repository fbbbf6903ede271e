"""Structs of one schema, held as columns: no object for each until one is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TypeAlias, overload

from copycat_connect.data.schema import Schema
from copycat_connect.data.struct import Struct
from copycat_connect.data.value import ConnectValue

StructColumn: TypeAlias = Sequence[ConnectValue]


class StructColumns(Sequence[Struct]):
    """What a task that reads columns puts into `SourceBatch.values`; structs are made once, when needed.

    Whoever writes the values somewhere can take the columns as they are: a converter needs no struct.
    """

    __slots__ = ("_columns", "_length", "_structs", "encoded", "schema")

    schema: Schema
    """Schema of every struct."""
    encoded: Sequence[StructColumn] | None
    """One column per field, in order, where Date, Time and Timestamp are the integers that they are on the
    wire and everything else is as in a struct; None when structs are all there is."""

    def __init__(
        self,
        schema: Schema,
        length: int,
        columns: Callable[[], Sequence[StructColumn]],
        encoded: Sequence[StructColumn] | None = None,
    ) -> None:
        """Wrap columns whose values are known to fit the schema; nothing is checked.

        Args:
            schema: A STRUCT schema.
            length: How many structs there are.
            columns: Gives one column of values per field; called at most once, when structs are wanted.
            encoded: What the attribute of that name says.
        """
        self.schema = schema
        self.encoded = encoded
        self._length = length
        self._columns = columns
        self._structs: list[Struct] | None = None

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> Struct: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Struct]: ...
    def __getitem__(self, index: int | slice) -> Struct | Sequence[Struct]:
        return self._made()[index]

    def __iter__(self) -> Iterator[Struct]:
        return iter(self._made())

    def _made(self) -> list[Struct]:
        if self._structs is None:
            columns = self._columns()
            of_valid = partial(Struct.of_valid, self.schema)
            if columns:
                self._structs = [of_valid(list(row)) for row in zip(*columns, strict=True)]
            else:
                self._structs = [of_valid([]) for _ in range(self._length)]
        return self._structs
