"""Headers: an ordered multimap of names to values with their schemas."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from copycat_connect.data.schema import ConnectValue, Schema
from copycat_connect.data.validation import check_header


class Header(NamedTuple):
    """One header of a record."""

    key: str
    """Its name; a record may have several headers of one name."""
    value: ConnectValue
    """Its value."""
    schema: Schema | None = None
    """Schema of the value; None when it has none."""


class Headers:
    """The headers of one record, in order; names may repeat."""

    __slots__ = ("_headers",)

    def __init__(self, headers: Iterable[Header] = ()) -> None:
        """Copy the given headers."""
        self._headers = list(headers)

    def __len__(self) -> int:
        return len(self._headers)

    def __iter__(self) -> Iterator[Header]:
        return iter(self._headers)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Headers) and self._headers == other._headers

    __hash__ = None  # type: ignore[assignment]  # mutable, like a list

    def __repr__(self) -> str:
        return f"Headers({self._headers!r})"

    def add(self, key: str, value: ConnectValue, schema: Schema | None = None) -> Headers:
        """Append a header; one of the same name stays.

        Returns:
            Itself, so that calls chain.

        Raises:
            DataError: The value does not fit the schema.
        """
        check_header(schema, value)
        self._headers.append(Header(key, value, schema))
        return self

    def remove(self, key: str) -> Headers:
        """Remove every header of that name."""
        self._headers = [header for header in self._headers if header.key != key]
        return self

    def last_with_name(self, key: str) -> Header | None:
        """Return the last header of that name, or None."""
        return next((header for header in reversed(self._headers) if header.key == key), None)

    def all_with_name(self, key: str) -> Iterator[Header]:
        """Yield the headers of that name, in order."""
        return (header for header in self._headers if header.key == key)

    def duplicate(self) -> Headers:
        """Return a copy that changes on its own."""
        return Headers(self._headers)
