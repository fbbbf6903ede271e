"""BooleanConverter: one byte, 1 or 0."""

from __future__ import annotations

from copycat_connect.data import (
    OPTIONAL_BOOLEAN_SCHEMA,
    ConnectValue,
    Headers,
    Schema,
    SchemaAndValue,
    SchemaType,
)
from copycat_connect.data.java import class_text
from copycat_connect.errors import DataError
from copycat_connect.kafka_version import KAFKA_VERSION
from copycat_connect.plugin import Converter, HeaderConverter, PluginKind, PluginSpec
from copycat_connect.plugin.converters import ConverterSettings

CLASS_NAME = "org.apache.kafka.connect.converters.BooleanConverter"
_READ: dict[bytes | None, bool | None] = {None: None, b"\x01": True, b"\x00": False}


def _problem(data: bytes) -> str:
    if len(data) != 1:
        return "Size of data received by BooleanDeserializer is not 1"
    # Java's bytes are signed.
    return f"Unexpected byte received by BooleanDeserializer: {int.from_bytes(data, signed=True)}"


class BooleanConverter(Converter, HeaderConverter):
    """Converts booleans to one byte, 1 or 0, and back."""

    def to_connect(self, topic: str, headers: Headers | None, data: bytes | None) -> SchemaAndValue:
        """Return the boolean with an optional schema."""
        del topic, headers
        if data not in _READ:
            raise DataError("Failed to deserialize boolean: ") from ValueError(_problem(data or b""))
        return SchemaAndValue(OPTIONAL_BOOLEAN_SCHEMA, _READ[data])

    def from_connect(
        self, topic: str, headers: Headers | None, schema: Schema | None, value: ConnectValue
    ) -> bytes | None:
        """Return the byte; null stays null."""
        del topic, headers
        if schema is not None and schema.type is not SchemaType.BOOLEAN:
            raise DataError(f"Invalid schema type for BooleanConverter: {schema.type}")
        if value is None:
            return None
        if not isinstance(value, bool):
            raise DataError(f"BooleanConverter is not compatible with objects of type {class_text(value)}")
        return b"\x01" if value else b"\x00"

    def to_connect_header(self, topic: str, key: str, data: bytes | None) -> SchemaAndValue:
        """Return the boolean with an optional schema."""
        del key
        return self.to_connect(topic, None, data)

    def from_connect_header(
        self, topic: str, key: str, schema: Schema | None, value: ConnectValue
    ) -> bytes | None:
        """Return the byte; null stays null."""
        del key
        return self.from_connect(topic, None, schema, value)


PLUGINS = tuple(
    PluginSpec(
        class_name=CLASS_NAME,
        kind=kind,
        version=KAFKA_VERSION,
        summary="A boolean as one byte.",
        config=ConverterSettings.config_def(),
        factory=BooleanConverter,
    )
    for kind in (PluginKind.CONVERTER, PluginKind.HEADER_CONVERTER)
)
