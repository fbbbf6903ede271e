"""A schema as the registry holds it, and what a format makes of one."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

from copycat_avro.schema_text import SchemaText
from copycat_connect.data import ConnectValue, Schema

Encode = Callable[[ConnectValue], bytes]
"""Writes a value: its head and its payload. Raises DataError."""
Decode = Callable[[bytes], ConnectValue]
"""Reads a payload. Raises DataError."""


class Written(NamedTuple):
    """A Connect schema in a format."""

    text: SchemaText
    """What to register."""
    record_name: str | None
    """Full name of the record it describes; None when it describes none."""


class SchemaFormat(Protocol):
    """Avro, Protobuf or JSON Schema: the two-way mapping to Connect's data model. Owned by one converter."""

    name: str
    """The registry's name of the format, e.g. `AVRO`."""

    def describe(self, schema: Schema | None) -> Written:
        """Write a Connect schema down.

        Raises:
            DataError: The format cannot say it.
        """

    def record_name(self, text: SchemaText) -> str | None:
        """Return the full name of the record a registered schema describes; None when it describes none."""

    def null_payload(self, schema: Schema | None) -> bool:
        """Return whether null is written as a payload; otherwise it is no value at all: a tombstone.

        Raises:
            DataError: The schema requires a value.
        """

    def encoder(self, schema: Schema | None, target: SchemaText | None) -> Encode:
        """Return how values of a Connect schema are written.

        Args:
            schema: The values' schema; None for schemaless.
            target: The registered schema to write with; None for the values' own.

        Raises:
            DataError: Values of that schema cannot be written so.
        """

    def head_length(self, data: bytes) -> int:
        """Return how many bytes after the schema's id still say what the payload is.

        Raises:
            DataError: They make no sense.
        """

    def decoder(
        self, text: SchemaText, wanted: SchemaText | None, version: int | None, head: bytes
    ) -> tuple[Schema | None, Decode]:
        """Return the Connect schema of what a registered schema wrote, and how it is read.

        Args:
            text: The schema it was written with.
            wanted: The schema to read it as; None for the same.
            version: The schema's version within its subject; None when that is not known.
            head: The bytes that `head_length` counted.

        Raises:
            DataError: Connect's data model cannot hold it.
        """

    def misfit(self, schema: SchemaText, latest: SchemaText) -> str | None:
        """Return why what `schema` writes cannot be read with `latest`; None when it can."""
