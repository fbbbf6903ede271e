"""What a payload claims to hold, looked at before it is read.

Two kinds of schemas let a few bytes claim more than any machine has. Items of an array that take no bytes,
e.g. of a record without fields: a count of 2^40 is seven bytes, and nothing ends the reading of so many. And
records that contain themselves: fastavro reads them by recursion in C, which ends the whole process when it
goes deep. For all other schemas what is read is a small multiple of the payload: these are not looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from copycat_connect.errors import DataError

from copycat_avro.anything import Json

Bound = Callable[[bytes], None]
"""Raises DataError for a payload that claims too much."""
MAX_ITEMS_WITHOUT_BYTES: Final = 100_000
"""The most items that take no bytes, in all arrays of a payload together."""
MAX_SELF_NESTING: Final = 100
"""The most records that contain themselves, one within another."""
_MAX_VARINT_BYTES: Final = 10
_FIXED_SIZES: Final[Mapping[str, int]] = {"null": 0, "boolean": 1, "float": 4, "double": 8}
_COLLECTIONS: Final = {"array": "items", "map": "values"}
_RECORDS: Final = frozenset({"record", "error"})


def bound_of(expanded: Json) -> Bound | None:
    """Return what checks the payloads that a schema wrote; None when none can claim too much.

    Args:
        expanded: The schema, every name replaced by what it stands for unless that is being defined.

    Raises:
        DataError: A record holds itself in every case, so no payload ends.
    """
    shape = _Shape()
    shape.look_at(expanded, ())
    if not (shape.has_free_items or shape.recursive):
        return None
    skip = _Skips(shape.recursive).of(expanded)
    # A record within itself takes its smallest size again: short payloads cannot nest deep.
    harmless = 0 if shape.has_free_items else MAX_SELF_NESTING * min(shape.recursive.values())

    def check(data: bytes) -> None:
        if len(data) > harmless:
            skip(_Payload(data))

    return check


class _Payload:
    """Bytes, how far they are looked at, and what they claimed so far."""

    __slots__ = ("data", "free_items", "nesting", "place")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.place = 0
        self.free_items = 0
        self.nesting = 0

    def number(self) -> int:
        """Read a zigzag varint; running out of bytes is EOFError, which says the rest when it is read."""
        if self.place >= len(self.data):
            raise EOFError
        byte = self.data[self.place]
        if byte < 0x80:
            self.place += 1
            return (byte >> 1) ^ -(byte & 1)
        number = shift = 0
        for place in range(self.place, self.place + _MAX_VARINT_BYTES):
            if place >= len(self.data):
                raise EOFError
            byte = self.data[place]
            number |= (byte & 0x7F) << shift
            if byte < 0x80:
                self.place = place + 1
                return (number >> 1) ^ -(number & 1)
            shift += 7
        raise DataError("Failed to deserialize data to Avro: a number is longer than 10 bytes.")

    def skip(self, length: int) -> None:
        """Read so many bytes."""
        if length < 0 or self.place + length > len(self.data):
            raise EOFError
        self.place += length


Skip = Callable[[_Payload], None]


class _Shape:
    """What is dangerous about a schema."""

    def __init__(self) -> None:
        self.has_free_items = False
        self.recursive: dict[str, int] = {}

    def look_at(self, avro: Json, inside: tuple[str, ...]) -> int:
        """Return the fewest bytes that a value takes, noting what is dangerous."""
        kind, avro = _plain(avro)
        if kind == "union":
            return 1 + min((self.look_at(each, inside) for each in avro), default=0)
        if kind in _RECORDS:
            return self._record(avro, inside)
        if kind in _COLLECTIONS:
            items = avro[_COLLECTIONS[kind]]
            self.has_free_items |= kind == "array" and _is_free(items)
            self.look_at(items, inside)
            return 1
        if kind in inside:
            self.recursive.setdefault(kind, 0)
            return 0
        return int(avro["size"]) if kind == "fixed" else _FIXED_SIZES.get(kind, 1)

    def _record(self, avro: Json, inside: tuple[str, ...]) -> int:
        name = avro["name"]
        size = sum(self.look_at(each["type"], (*inside, name)) for each in avro["fields"])
        if name in self.recursive:
            if size == 0:
                message = f"The Avro record {name} always holds itself: no payload of it ends."
                raise DataError(message)
            self.recursive[name] = size
        return size


class _Skips:
    """Composes what goes over a payload without reading it."""

    def __init__(self, recursive: Mapping[str, int]) -> None:
        self._recursive = recursive
        self._records: dict[str, Skip] = {}
        self._by_kind: dict[str, Callable[[Json], Skip]] = {
            "array": lambda avro: _blocks(self.of(avro["items"])),
            "error": self._record,
            "fixed": lambda avro: _fixed(int(avro["size"])),
            "map": lambda avro: _blocks(_in_turn([_skip_text, self.of(avro["values"])])),
            "null": lambda _: _skip_nothing,
            "record": self._record,
            "union": lambda avro: _union([self.of(each) for each in avro]),
            **dict.fromkeys(
                ("boolean", "float", "double"), lambda avro: _fixed(_FIXED_SIZES[_plain(avro)[0]])
            ),
            **dict.fromkeys(("bytes", "string"), lambda _: _skip_text),
            **dict.fromkeys(("enum", "int", "long"), lambda _: _skip_number),
        }

    def of(self, avro: Json) -> Skip:
        """Return what goes over one value."""
        kind, avro = _plain(avro)
        if kind in self._by_kind:
            return self._by_kind[kind](avro)
        return lambda payload: self._records[kind](payload)  # noqa: PLW0108 - it is not composed yet

    def _record(self, avro: Json) -> Skip:
        name = avro["name"]
        fields = _in_turn([self.of(each["type"]) for each in avro["fields"]])
        self._records[name] = _nested(fields, name) if name in self._recursive else fields
        return self._records[name]


def _plain(avro: Json) -> tuple[str, Json]:
    """Return the type of a schema, `union`, a type of Avro's or a name, and what says it."""
    while isinstance(avro, dict) and isinstance(avro["type"], (dict, list)):
        avro = avro["type"]
    if isinstance(avro, list):
        return "union", avro
    return str(avro["type"]) if isinstance(avro, dict) else avro, avro


def _is_free(avro: Json) -> bool:
    """Return whether no value of a schema takes any bytes."""
    kind, avro = _plain(avro)
    if kind in _RECORDS:
        return all(_is_free(each["type"]) for each in avro["fields"])
    return kind == "null" or (kind == "fixed" and avro["size"] == 0)


def _skip_number(payload: _Payload) -> None:
    payload.number()


def _fixed(size: int) -> Skip:
    return lambda payload: payload.skip(size)


def _skip_nothing(payload: _Payload) -> None:
    del payload


def _skip_text(payload: _Payload) -> None:
    payload.skip(payload.number())


def _in_turn(skips: Sequence[Skip]) -> Skip:
    def skip(payload: _Payload) -> None:
        for each in skips:
            each(payload)

    return skip


def _union(members: Sequence[Skip]) -> Skip:
    def skip(payload: _Payload) -> None:
        place = payload.number()
        if not 0 <= place < len(members):
            raise EOFError
        if not free[place]:
            members[place](payload)

    free = [each is _skip_nothing for each in members]
    return skip


def _nested(fields: Skip, name: str) -> Skip:
    def skip(payload: _Payload) -> None:
        payload.nesting += 1
        if payload.nesting > MAX_SELF_NESTING:
            message = (
                f"Failed to deserialize data to Avro: records of {name} are nested deeper than "
                f"{MAX_SELF_NESTING}."
            )
            raise DataError(message)
        fields(payload)
        payload.nesting -= 1

    return skip


def _blocks(skip_item: Skip) -> Skip:
    def skip(payload: _Payload) -> None:
        while count := payload.number():
            if count < 0:
                payload.number()  # the block's length in bytes, which readers do not rely on
                count = -count
            for _ in range(count):
                start = payload.place
                skip_item(payload)
                if payload.place == start:
                    payload.free_items += 1
                    if payload.free_items > MAX_ITEMS_WITHOUT_BYTES:
                        message = (
                            "Failed to deserialize data to Avro: the payload claims more than "
                            f"{MAX_ITEMS_WITHOUT_BYTES} items that take no bytes."
                        )
                        raise DataError(message)

    return skip
