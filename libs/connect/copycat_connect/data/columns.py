"""Maps with the same keys, and structs of one schema, held as columns: objects are made when asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TypeAlias, overload

from copycat_connect.data.schema import ConnectValue, Schema
from copycat_connect.data.struct import Struct

MapColumn: TypeAlias = Sequence[ConnectValue]
ConnectMap: TypeAlias = dict[ConnectValue, ConnectValue]

_MAPS = frozenset({dict})
StructColumn: TypeAlias = Sequence[ConnectValue]


class MapColumns(Sequence[ConnectMap]):
    """What a converter makes of many schemaless maps, and transformations turn into others by the column.

    Columns are never changed, only replaced: several of these may share one. The maps are made once, when
    they are asked for, and kept.
    """

    __slots__ = ("_length", "_maps", "columns")

    columns: Mapping[ConnectValue, MapColumn]
    """One column per key, in the order that the maps have their keys in."""

    def __init__(self, columns: Mapping[ConnectValue, MapColumn], length: int) -> None:
        """Wrap columns of so many values each; nothing is checked."""
        self.columns = columns
        self._length = length
        self._maps: list[ConnectMap] | None = None

    @classmethod
    def of(cls, maps: list[ConnectValue]) -> MapColumns | None:
        """Return the columns of maps, which are kept; None unless all have the same keys in one order."""
        if not maps or not _MAPS.issuperset(map(type, maps)):
            return None
        first, count = maps[0], len(maps)
        try:
            names = [*zip(*maps, strict=True)]
        except ValueError:  # one of them has more or fewer
            return None
        if any(column.count(name) != count for name, column in zip(first, names, strict=True)):
            return None
        made = cls(dict(zip(first, zip(*map(dict.values, maps), strict=True), strict=True)), count)
        made._maps = maps
        return made

    def with_columns(self, columns: Mapping[ConnectValue, MapColumn]) -> MapColumns:
        """Return as many maps of other columns."""
        return MapColumns(columns, self._length)

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> ConnectMap: ...
    @overload
    def __getitem__(self, index: slice) -> list[ConnectMap]: ...
    def __getitem__(self, index: int | slice) -> ConnectMap | list[ConnectMap]:
        return self.maps[index]

    def __iter__(self) -> Iterator[ConnectMap]:
        return iter(self.maps)

    @property
    def maps(self) -> list[ConnectMap]:
        """The maps themselves."""
        if self._maps is None:
            names = tuple(self.columns)
            rows = zip(*self.columns.values(), strict=True) if names else ((),) * self._length
            self._maps = [dict(zip(names, row, strict=True)) for row in rows]
        return self._maps


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
