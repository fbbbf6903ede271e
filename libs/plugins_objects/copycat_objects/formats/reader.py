"""What a reader of a file of records is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, cast

from copycat_connect.data import ConnectValue, Schema
from copycat_connect.errors import DataError


@dataclass(frozen=True, slots=True)
class RecordPlace:
    """A place between two records of a file."""

    record: int = 0
    """How many records come before it; for formats of lines how many lines."""
    position: int | None = None
    """How many bytes come before it; None where the format, or a compressed file, has no such places."""


START = RecordPlace()


@dataclass(frozen=True, slots=True, eq=False)
class Chunk:
    """Some records of a file, one after the other."""

    values: Sequence[ConnectValue]
    """Their values, a list or `StructColumns`; may be empty, as where lines are blank."""
    schema: Schema | None
    """The schema of every value."""
    after: RecordPlace
    """Where the next chunk begins."""
    is_last: bool
    """True when nothing comes after it."""
    places: Callable[[], Sequence[RecordPlace]]
    """Returns the place after each record."""
    utf8: bool = False
    """True when the values are texts as bytes of UTF-8."""
    unreadable: Mapping[int, DataError] = field(default_factory=dict)
    """Why a value cannot be read, by its index; the value is then what was found."""


class RecordReader(Protocol):
    """Reads one file from a place on; memory holds about a chunk of it."""

    def read(self, limit: int) -> Chunk:
        """Return up to so many records; after the last chunk it is not called again.

        Raises:
            DataError: Nothing from here on is of the file's format; the text says where.
            ConnectError: The store's errors.
        """

    def close(self) -> None:
        """Let go of the file."""


@dataclass(frozen=True, slots=True)
class Unread:
    """What stands among the values of a file for one that cannot be read."""

    found: ConnectValue
    """What the file has there: its bytes, or as JSON what can be read of it."""
    error: DataError
    """Why it cannot be read."""


def unread(record: int, found: ConnectValue, error: Exception, where: str = "") -> Unread:
    """Return what stands for a record of that number, from 1."""
    why = error.message if isinstance(error, DataError) else f"{type(error).__name__} {error}"
    return Unread(found, DataError(f"Record {record}{where} cannot be read: {why}"))


def counted(
    values: Sequence[ConnectValue | Unread],
    schema: Schema | None,
    first: int,
    *,
    is_last: bool,
    has_unread: bool,
) -> Chunk:
    """Return a chunk of a format without positions, whose first record has that number.

    `has_unread` says that some of the values may be `Unread`.
    """
    after = first + len(values)
    unreadable: dict[int, DataError] = {}
    if has_unread:
        unreadable = {place: each.error for place, each in enumerate(values) if isinstance(each, Unread)}
        values = [each.found if isinstance(each, Unread) else each for each in values]
    return Chunk(
        cast("Sequence[ConnectValue]", values),
        schema,
        RecordPlace(after),
        is_last,
        lambda: [RecordPlace(number) for number in range(first + 1, after + 1)],
        unreadable=unreadable,
    )
