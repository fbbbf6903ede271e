"""StringConverter: text in Kafka, whatever the value's type."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import cast

from copycat_connect.cluster import Config
from copycat_connect.config import HIGH, Width
from copycat_connect.config.settings import key
from copycat_connect.data import OPTIONAL_STRING_SCHEMA, ConnectValue, Headers, Schema, SchemaAndValue, Texts
from copycat_connect.data.java import decode_utf8, to_text_under
from copycat_connect.errors import ConfigError, DataError
from copycat_connect.kafka_version import KAFKA_VERSION
from copycat_connect.plugin import Converter, HeaderConverter, PluginKind, PluginSpec
from copycat_connect.plugin.converters import ConverterSettings

CLASS_NAME = "org.apache.kafka.connect.storage.StringConverter"
_ENCODING = "converter.encoding"


class StringConverterSettings(ConverterSettings):
    """How text is written."""

    encoding: str = key(
        HIGH,
        name=_ENCODING,
        default="UTF-8",
        doc="Character set of the text in Kafka.",
        width=Width.MEDIUM,
        display_name="Encoding",
    )


class StringConverter(Converter, HeaderConverter):
    """Writes Java's toString of any value; reads text. Malformed input is replaced, never refused."""

    def __init__(self) -> None:
        self._encoding = "utf-8"

    def configure(self, config: Config, is_key: bool = False) -> None:
        """Read `converter.encoding`, the character set of the text."""
        name = StringConverterSettings.of(config, is_key=is_key).encoding
        try:
            "".encode(name)
        except LookupError as error:
            raise ConfigError(
                f"Invalid value {name} for configuration {_ENCODING}: Unknown character set", key=_ENCODING
            ) from error
        self._encoding = "utf-8" if name.lower() in ("utf-8", "utf8") else name

    def to_connect(self, topic: str, headers: Headers | None, data: bytes | None) -> SchemaAndValue:
        """Return the text with an optional string schema."""
        del topic, headers
        return SchemaAndValue(OPTIONAL_STRING_SCHEMA, None if data is None else self._decode(data))

    def from_connect(
        self, topic: str, headers: Headers | None, schema: Schema | None, value: ConnectValue
    ) -> bytes | None:
        """Return the encoded toString; null stays null."""
        del topic, headers
        if value is None:
            return None
        try:
            return (value if type(value) is str else to_text_under(schema, value)).encode(
                self._encoding, "replace"
            )
        except (RecursionError, UnicodeError) as error:
            raise DataError("Failed to serialize to a string: ") from error

    def to_connect_batch(
        self, topic: str, datas: Sequence[bytes | None]
    ) -> tuple[Schema | None, Sequence[ConnectValue]]:
        """Return the texts with their one schema, as the bytes they are where that is possible."""
        del topic
        if self._encoding == "utf-8":
            encoded = cast("Sequence[bytes]", datas)
            # One by one: a batch joined is so large that its memory comes from the system each time.
            with suppress(TypeError):  # there is a null
                if all(map(bytes.isascii, encoded)):
                    return OPTIONAL_STRING_SCHEMA, Texts(encoded)
            try:
                return OPTIONAL_STRING_SCHEMA, [None if data is None else data.decode() for data in datas]
            except UnicodeDecodeError:
                pass
        return OPTIONAL_STRING_SCHEMA, [None if data is None else self._decode(data) for data in datas]

    def from_connect_batch(
        self, topic: str, schema: Schema | None, values: Sequence[ConnectValue], utf8: bool = False
    ) -> list[bytes | None]:
        """Return encoded text as it is; encode the rest."""
        if self._encoding != "utf-8":
            return super().from_connect_batch(topic, schema, values, utf8)
        if utf8:
            return cast(list[bytes | None], values)
        try:
            return [
                value.encode("utf-8", "replace")
                if type(value) is str
                else (None if value is None else to_text_under(schema, value).encode("utf-8", "replace"))
                for value in values
            ]
        except (RecursionError, UnicodeError) as error:
            raise DataError("Failed to serialize to a string: ") from error

    def to_connect_header(self, topic: str, key: str, data: bytes | None) -> SchemaAndValue:
        """Return the text with an optional string schema."""
        del key
        return self.to_connect(topic, None, data)

    def from_connect_header(
        self, topic: str, key: str, schema: Schema | None, value: ConnectValue
    ) -> bytes | None:
        """Return the encoded toString; null stays null."""
        del key
        return self.from_connect(topic, None, schema, value)

    def _decode(self, data: bytes) -> str:
        if self._encoding == "utf-8":
            return decode_utf8(data)
        return data.decode(self._encoding, "replace")


PLUGINS = tuple(
    PluginSpec(
        class_name=CLASS_NAME,
        kind=kind,
        version=KAFKA_VERSION,
        summary="Text, as Java prints the value.",
        config=StringConverterSettings.config_def(),
        factory=StringConverter,
        examples={"Another character set": {_ENCODING: "ISO-8859-1"}},
    )
    for kind in (PluginKind.CONVERTER, PluginKind.HEADER_CONVERTER)
)
