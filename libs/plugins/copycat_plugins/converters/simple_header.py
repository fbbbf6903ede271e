"""SimpleHeaderConverter: headers as text, their schemas guessed when they are read."""

from __future__ import annotations

import logging

from copycat_connect.config import ConfigDef
from copycat_connect.data import NULL, OPTIONAL_BYTES_SCHEMA, ConnectValue, Schema, SchemaAndValue
from copycat_connect.data.java import decode_utf8
from copycat_connect.errors import DataError
from copycat_connect.kafka_version import KAFKA_VERSION
from copycat_connect.plugin import HeaderConverter, PluginKind, PluginSpec
from copycat_connect.values.parsing import parse_value
from copycat_connect.values.text import value_to_text

CLASS_NAME = "org.apache.kafka.connect.storage.SimpleHeaderConverter"
_log = logging.getLogger(__name__)


class SimpleHeaderConverter(HeaderConverter):
    """Writes text; reads numbers, booleans, dates, lists and maps where the text looks like one."""

    def to_connect_header(self, topic: str, key: str, data: bytes | None) -> SchemaAndValue:
        """Return the value the text stands for; the bytes as they are when that is unknown."""
        if data is None:
            return NULL
        try:
            return parse_value(decode_utf8(data))
        except (DataError, RecursionError) as error:
            _log.warning("The value of header '%s' on topic '%s' stays bytes: %s", key, topic, error)
            return SchemaAndValue(OPTIONAL_BYTES_SCHEMA, data)

    def from_connect_header(
        self, topic: str, key: str, schema: Schema | None, value: ConnectValue
    ) -> bytes | None:
        """Return the text of the value; null stays null."""
        del topic, key
        try:
            text = value_to_text(schema, value)
        except RecursionError as error:
            raise DataError("Failed to serialize a header value: it is nested too deep") from error
        return None if text is None else text.encode("utf-8", "replace")


PLUGIN = PluginSpec(
    class_name=CLASS_NAME,
    kind=PluginKind.HEADER_CONVERTER,
    version=KAFKA_VERSION,
    summary="Headers as text, their types guessed when they are read.",
    config=ConfigDef(),
    factory=SimpleHeaderConverter,
)
