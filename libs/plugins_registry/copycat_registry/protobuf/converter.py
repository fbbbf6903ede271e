"""ProtobufConverter: records of a registry's Protobuf schemas.

Message classes read and write, by plans made once for each schema.
"""

from __future__ import annotations

from copycat_avro.schema_text import SchemaText
from copycat_connect.data import ConnectValue, Schema, SchemaType, validate_value
from copycat_connect.errors import DataError
from google.protobuf.descriptor import Descriptor, FileDescriptor
from google.protobuf.message import DecodeError, EncodeError
from google.protobuf.message_factory import GetMessageClass

from copycat_registry.converter import RegistryConverter
from copycat_registry.protobuf.compiling import compile_schema
from copycat_registry.protobuf.from_proto import ConnectMessages
from copycat_registry.protobuf.indexes import (
    FIRST_MESSAGE_INDEX,
    find_message,
    index_length,
    indexes_of,
)
from copycat_registry.protobuf.plugin import ProtobufOptions
from copycat_registry.protobuf.to_proto import ProtoText
from copycat_registry.protobuf.value_writers import ValueWriters, wrapper_writer
from copycat_registry.schema_text import Decode, Encode, Written


class ProtobufFormat:
    """The two-way mapping between Connect's data model and Protobuf."""

    name = "PROTOBUF"

    def __init__(self, options: ProtobufOptions) -> None:
        self._options = options

    def describe(self, schema: Schema | None) -> Written:
        """Write a Connect schema down as a .proto file.

        Raises:
            DataError: Protobuf cannot say it, or no schema can be written down.
        """
        if schema is None:
            raise DataError(
                "ProtobufConverter writes values that have a schema: give the records one, or set "
                "JsonConverter with schemas.enable=false."
            )
        text, full_name = ProtoText(self._options).file(schema)
        return Written(SchemaText(text), full_name)

    def record_name(self, text: SchemaText) -> str | None:
        """Return the full name of a file's first message."""
        return str(find_message(compile_schema(text), FIRST_MESSAGE_INDEX).full_name)

    def null_payload(self, schema: Schema | None) -> bool:
        """Return False: null is a tombstone."""
        del schema
        return False

    def encoder(self, schema: Schema | None, target: SchemaText | None) -> Encode:
        """Return how values of a Connect schema are written, with the target's message or their own."""
        own = self.describe(schema)
        assert schema is not None  # describe refuses None
        message = _message(compile_schema(target or own.text), own.record_name)
        make, indexes = GetMessageClass(message), indexes_of(message)
        is_struct = schema.type is SchemaType.STRUCT
        write = ValueWriters(self._options).message(schema, message) if is_struct else wrapper_writer(message)

        def encode(value: ConnectValue) -> bytes:
            try:
                return indexes + bytes(make(**write(value)).SerializeToString())
            except (AttributeError, EncodeError, OverflowError, TypeError, ValueError) as error:
                validate_value(schema, value)  # says what is wrong in Connect's words, when that can be said
                raise DataError(f"Failed to serialize Protobuf data: {error}") from error

        return encode

    def head_length(self, data: bytes) -> int:
        """Return how many bytes the message indexes are."""
        return index_length(data)

    def decoder(
        self,
        text: SchemaText,
        wanted: SchemaText | None,
        version: int | None,
        head: bytes = FIRST_MESSAGE_INDEX,
    ) -> tuple[Schema | None, Decode]:
        """Return the Connect schema of a message, and how it is read."""
        message = find_message(compile_schema(text), head)
        if wanted is not None:
            message = _message(compile_schema(wanted), message.full_name)
        parse = GetMessageClass(message).FromString
        schema, read = ConnectMessages(self._options).root(message, version)

        def decode(data: bytes) -> ConnectValue:
            try:
                return read(parse(data))
            except (DecodeError, ValueError) as error:
                raise DataError(
                    f"Failed to deserialize data to Protobuf: {error}. The bytes are not what their schema "
                    "id says: look for what else writes to the topic."
                ) from error

        return schema, decode

    def misfit(self, schema: SchemaText, latest: SchemaText) -> str | None:
        """Return which field of the first message has another type in the latest version, or is not there."""
        own = find_message(compile_schema(schema), FIRST_MESSAGE_INDEX)
        other = _message(compile_schema(latest), own.full_name)
        for field in own.fields:
            found = other.fields_by_name.get(field.name)
            if found is None or (found.number, found.type) != (field.number, field.type):
                return f"field {field.name} is not there with number {field.number} and its type"
        return None


class ProtobufConverter(RegistryConverter):
    """Writes and reads what Confluent's converter of this name does."""

    def __init__(self) -> None:
        """Nothing is connected yet."""
        super().__init__(lambda config: ProtobufFormat(ProtobufOptions.parse(config)))


def _message(file: FileDescriptor, full_name: str | None) -> Descriptor:
    """Return the message of a name; the first one if nothing has that name."""
    name = (full_name or "").removeprefix(f"{file.package}.")
    return file.message_types_by_name.get(name) or find_message(file, FIRST_MESSAGE_INDEX)
