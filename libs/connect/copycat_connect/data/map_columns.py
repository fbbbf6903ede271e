"""Maps that have the same keys, held as columns: no object for each until one is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias, overload

from copycat_connect.data.value import ConnectValue

MapColumn: TypeAlias = Sequence[ConnectValue]
ConnectMap: TypeAlias = dict[ConnectValue, ConnectValue]

_MAPS = frozenset({dict})


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
