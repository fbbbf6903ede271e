"""AvroConverter: records of a registry's Avro schemas.

fastavro reads and writes, by plans made once for each schema.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from io import BytesIO
from typing import TYPE_CHECKING, Final

from avro.compatibility import ReaderWriterCompatibilityChecker, SchemaCompatibilityType
from avro.errors import AvroException
from copycat_avro import anything
from copycat_avro.bounds import Bound, bound_of
from copycat_avro.from_avro import ConnectTypes
from copycat_avro.options import AvroOptions
from copycat_avro.parsing import expand_text, official, parse, parse_text
from copycat_avro.schema_text import SchemaText
from copycat_avro.to_avro import AvroType, AvroTypes
from copycat_connect.data import ConnectValue, Schema, validate_value
from copycat_connect.errors import DataError
from fastavro import schemaless_reader, schemaless_writer

from copycat_registry.converter import RegistryConverter
from copycat_registry.schema_text import Decode, Encode, Written

if TYPE_CHECKING:
    from fastavro.types import Schema as ParsedSchema

#: What fastavro raises for values and bytes that do not fit the schema.
_MISFITS: Final = (
    AttributeError, EOFError, IndexError, KeyError, OverflowError, RecursionError, TypeError,
    UnicodeDecodeError, ValueError,
)  # fmt: skip


class AvroFormat:
    """The two-way mapping between Connect's data model and Avro."""

    name = "AVRO"

    def __init__(self, options: AvroOptions) -> None:
        self._options = options

    def describe(self, schema: Schema | None) -> Written:
        """Write a Connect schema down in Avro.

        Raises:
            DataError: Avro cannot say it.
        """
        found = self._type(schema)
        text = json.dumps(found.json, separators=(",", ":"), ensure_ascii=False)
        return Written(SchemaText(text), found.branch if found.is_named else None)

    def record_name(self, text: SchemaText) -> str | None:
        """Return the full name of a record; None for other types."""
        expanded = expand_text(text)
        return str(expanded["name"]) if isinstance(expanded, dict) and "name" in expanded else None

    def null_payload(self, schema: Schema | None) -> bool:
        """Return False: null is a tombstone, where the schema allows for it.

        Raises:
            DataError: It requires a value.
        """
        if schema is not None and not schema.optional:
            raise DataError("Found null value for non-optional schema: make it optional, or send no nulls.")
        return False

    def encoder(self, schema: Schema | None, target: SchemaText | None) -> Encode:
        """Return how values of a Connect schema are written, with the target's schema or their own."""
        found = self._type(schema)
        plan = parse(found.json) if target is None else parse_text(target)
        write, check = found.write, None if found.is_named else schema

        def encode(value: ConnectValue) -> bytes:
            if check is not None:
                validate_value(check, value)
            out = BytesIO()
            try:
                schemaless_writer(out, plan, value if write is None else write(value))
            except _MISFITS as error:
                raise _unwritable(schema, value, error) from error
            return out.getvalue()

        return encode

    def head_length(self, data: bytes) -> int:
        """Return 0: the payload stands right behind the schema's id."""
        del data
        return 0

    def decoder(
        self, text: SchemaText, wanted: SchemaText | None, version: int | None, head: bytes = b""
    ) -> tuple[Schema | None, Decode]:
        """Return the Connect schema of what an Avro schema wrote, and how it is read."""
        del head
        writer, expanded = parse_text(text), expand_text(wanted or text)
        resolved = None if wanted is None else parse_text(wanted)
        bound = bound_of(expanded if wanted is None else expand_text(text))
        if isinstance(expanded, dict) and expanded.get("name") == anything.FULL_NAME:
            return None, _reading(writer, resolved, anything.read, bound)
        schema, read = ConnectTypes(self._options).of(expanded, version=version)
        return schema, _reading(writer, resolved, read, bound)

    def misfit(self, schema: SchemaText, latest: SchemaText) -> str | None:
        """Return why Avro's schema resolution cannot read with `latest` what `schema` writes."""
        try:
            found = ReaderWriterCompatibilityChecker().get_compatibility(  # type: ignore[no-untyped-call]
                official(latest), official(schema)
            )
        except AvroException as error:
            return str(error)
        compatible = found.compatibility is SchemaCompatibilityType.compatible
        return None if compatible else "; ".join(sorted(found.messages))

    def _type(self, schema: Schema | None) -> AvroType:
        return AvroTypes(self._options).of(schema)


class AvroConverter(RegistryConverter):
    """Writes and reads what Confluent's converter of this name does."""

    def __init__(self) -> None:
        """Nothing is connected yet."""
        super().__init__(lambda config: AvroFormat(AvroOptions.parse(config)))


def _reading(
    writer: ParsedSchema,
    reader: ParsedSchema | None,
    read: Callable[..., ConnectValue] | None,
    bound: Bound | None,
) -> Decode:
    def decode(data: bytes) -> ConnectValue:
        try:
            if bound is not None:
                bound(data)
            value = schemaless_reader(BytesIO(data), writer, reader, return_named_type=True)
            return value if read is None else read(value)
        except _MISFITS as error:
            raise DataError(
                f"Failed to deserialize data to Avro: {type(error).__name__} {error}. The bytes are not "
                "what their schema id says: look for what else writes to the topic."
            ) from error

    return decode


def _unwritable(schema: Schema | None, value: ConnectValue, error: Exception) -> DataError:
    if schema is not None:
        validate_value(schema, value)  # says what is wrong in Connect's words, when that can be said
    return DataError(f"Failed to serialize Avro data: {error}")
