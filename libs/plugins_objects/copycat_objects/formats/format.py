"""What a format of files of records is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from copycat_connect.data import ConnectValue, Schema


class ByteSink(Protocol):
    """Takes the bytes of a file, in order."""

    def write(self, content: bytes | memoryview) -> None:
        """Append bytes, all of them."""


class ValueWriter(Protocol):
    """Writes the values of one file, which have one schema."""

    def write(self, values: Sequence[ConnectValue]) -> None:
        """Append values, all of them or none. They may be kept in memory for a while.

        Raises:
            DataError: One of them cannot be written; none was.
        """

    def finish(self) -> None:
        """Hand over what is left; the sink stays open."""

    @property
    def waiting(self) -> int:
        """About how many bytes are kept in memory."""


class Format(Protocol):
    """A format of files."""

    @property
    def extension(self) -> str:
        """The end of every file's name, with its dot."""

    @property
    def needs_schema(self) -> bool:
        """True where values without a schema cannot be written."""

    def writer(self, sink: ByteSink, schema: Schema | None) -> ValueWriter:
        """Begin a file of values of a schema.

        Raises:
            DataError: The format has nothing for this schema.
        """
