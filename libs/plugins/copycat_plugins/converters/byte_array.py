"""ByteArrayConverter: bytes as they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from copycat_connect.data import (
    OPTIONAL_BYTES_SCHEMA,
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

CLASS_NAME = "org.apache.kafka.connect.converters.ByteArrayConverter"


class ByteArrayConverter(Converter, HeaderConverter):
    """Passes bytes through; refuses everything else."""

    def to_connect(self, topic: str, headers: Headers | None, data: bytes | None) -> SchemaAndValue:
        """Return the bytes with an optional bytes schema."""
        del topic, headers
        return SchemaAndValue(OPTIONAL_BYTES_SCHEMA, data)

    def from_connect(
        self, topic: str, headers: Headers | None, schema: Schema | None, value: ConnectValue
    ) -> bytes | None:
        """Return bytes as they are; anything else is refused."""
        del topic, headers
        if schema is not None and schema.type is not SchemaType.BYTES:
            raise DataError(f"Invalid schema type for ByteArrayConverter: {schema.type}")
        if value is None or type(value) is bytes:
            return value
        if isinstance(value, (bytes, bytearray, memoryview)):
            return bytes(value)
        raise DataError(f"ByteArrayConverter is not compatible with objects of type {class_text(value)}")

    def from_connect_batch(
        self, topic: str, schema: Schema | None, values: Sequence[ConnectValue], utf8: bool = False
    ) -> list[bytes | None]:
        """Return bytes as they are, without a look at each where all are bytes or None."""
        known = schema is None or schema.type is SchemaType.BYTES
        if known and not utf8 and {bytes, type(None)}.issuperset(map(type, values)):
            return cast("list[bytes | None]", values)
        return super().from_connect_batch(topic, schema, values, utf8)

    def to_connect_batch(
        self, topic: str, datas: Sequence[bytes | None]
    ) -> tuple[Schema | None, list[ConnectValue]]:
        """Return the bytes with their one schema."""
        del topic
        return OPTIONAL_BYTES_SCHEMA, list(datas)

    def to_connect_header(self, topic: str, key: str, data: bytes | None) -> SchemaAndValue:
        """Return the bytes with an optional bytes schema."""
        del topic, key
        return SchemaAndValue(OPTIONAL_BYTES_SCHEMA, data)

    def from_connect_header(
        self, topic: str, key: str, schema: Schema | None, value: ConnectValue
    ) -> bytes | None:
        """Return bytes as they are; anything else is refused."""
        del key
        return self.from_connect(topic, None, schema, value)


PLUGINS = tuple(
    PluginSpec(
        class_name=CLASS_NAME,
        kind=kind,
        version=KAFKA_VERSION,
        summary="Bytes as they are.",
        config=ConverterSettings.config_def(),
        factory=ByteArrayConverter,
    )
    for kind in (PluginKind.CONVERTER, PluginKind.HEADER_CONVERTER)
)
