"""JsonConverter: JSON in Kafka, with or without the schema in an envelope.

Whatever is not plain is left to the readers, which go field by field.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from operator import itemgetter

from copycat_connect.bounded_cache import BoundedCache
from copycat_connect.cluster import Config
from copycat_connect.config import HIGH, LOW, STRING, Width, one_of_ignoring_case
from copycat_connect.config.settings import key
from copycat_connect.data import (
    NULL,
    STRING_SCHEMA,
    ConnectValue,
    Headers,
    Schema,
    SchemaAndValue,
    SchemaType,
    Struct,
)
from copycat_connect.data.logical import DATE, DECIMAL, TIME, TIMESTAMP
from copycat_connect.errors import DataError
from copycat_connect.kafka_version import KAFKA_VERSION
from copycat_connect.plugin import Converter, HeaderConverter, PluginKind, PluginSpec
from copycat_connect.plugin.converters import ConverterSettings

from copycat_json import decoding, encoding
from copycat_json.node import Node
from copycat_json.reader import JsonReader, Reader, reads_decimals
from copycat_json.rows import JsonRowWriter, has_rows
from copycat_json.schemas import schema_from_node, schema_to_node
from copycat_json.shapes import ShapeReader
from copycat_json.writer import JsonWriter, Writer, write_schemaless

_LOGICAL = frozenset({DECIMAL, DATE, TIME, TIMESTAMP})
_CLASSES: dict[SchemaType, type] = {
    SchemaType.INT8: int,
    SchemaType.INT16: int,
    SchemaType.INT32: int,
    SchemaType.INT64: int,
    SchemaType.FLOAT64: float,
    SchemaType.BOOLEAN: bool,
    SchemaType.STRING: str,
}
_BITS = {SchemaType.INT8: 8, SchemaType.INT16: 16, SchemaType.INT32: 32, SchemaType.INT64: 64}
_MAPS = frozenset({dict})
_NULL = type(None)


def _is_flat(schema: Schema | None) -> bool:
    """Return whether a schema is a struct whose fields are all of plain types."""
    return (
        schema is not None
        and schema.type is SchemaType.STRUCT
        and schema.name not in _LOGICAL
        and bool(schema.field_list)
        and all(
            each.schema.type in _CLASSES and each.schema.name not in _LOGICAL for each in schema.field_list
        )
    )


def _read_structs(schema: Schema, nodes: Sequence[Node]) -> list[ConnectValue] | None:
    """Turn nodes into structs of a flat schema; None when one of them must be looked at more closely."""
    if not _MAPS.issuperset(map(type, nodes)):
        return None
    names = [field.name for field in schema.field_list]
    try:
        rows = [[*each] for each in map(itemgetter(*names), nodes)] if len(names) > 1 else None
    except KeyError:
        rows = None
    if rows is None:
        rows = [list(map(node.get, names)) for node in nodes]
    if not _columns_fit(schema, rows):
        return None
    return list(map(partial(Struct.of_valid, schema), rows))


def _columns_fit(schema: Schema, rows: Sequence[Sequence[ConnectValue]]) -> bool:
    """Return whether every value is just what its field holds; null is where it stays null."""
    for field, column in zip(schema.field_list, zip(*rows, strict=True), strict=False):
        kinds = set(map(type, column))
        wanted = _CLASSES[field.schema.type]
        if kinds != {wanted}:
            nullable = field.schema.optional and field.schema.default is None
            if not (nullable and kinds <= {wanted, _NULL}):
                return False
        bits = _BITS.get(field.schema.type)
        if bits is not None:
            numbers = column if kinds == {wanted} else [item for item in column if item is not None]
            if not -(1 << bits - 1) <= min(numbers, default=0) <= max(numbers, default=0) < 1 << bits - 1:
                return False
    return True


CLASS_NAME = "org.apache.kafka.connect.json.JsonConverter"
_NO_ENVELOPE = (
    'JsonConverter with schemas.enable requires "schema" and "payload" fields and may not contain additional '
    "fields. If you are trying to deserialize plain JSON data, set schemas.enable=false in your converter "
    "configuration."
)
_ENVELOPE = {"schema", "payload"}
_TEXTS = frozenset({str})


def _envelope_start(schema_text: bytes) -> bytes:
    return b'{"schema":' + schema_text + b',"payload":'


def _payloads(prefix: bytes, datas: Sequence[bytes | None]) -> list[bytes] | None:
    """Cut the payloads out of envelopes that begin alike; None when one does not."""
    start = len(prefix)
    payloads = [
        data[start:-1] for data in datas if data is not None and data.startswith(prefix) and data[-1:] == b"}"
    ]
    return payloads if len(payloads) == len(datas) else None


def _plain_nodes(schema: Schema | None, values: Sequence[ConnectValue]) -> Sequence[Node] | None:
    """Return values as nodes for `write_plain_batch`; None when they must be written one by one."""
    if schema is None:
        return None if None in values else values
    return values if schema is STRING_SCHEMA and _TEXTS.issuperset(map(type, values)) else None


class JsonConverterSettings(ConverterSettings):
    """How schemas travel, and how decimals and nulls are written."""

    envelopes: bool = key(
        HIGH,
        name="schemas.enable",
        default=True,
        doc="Each message is an object with the fields schema and payload; false leaves the payload alone.",
        group="Schemas",
        order=0,
        width=Width.MEDIUM,
        display_name="Enable Schemas",
    )
    cache_size: int = key(
        HIGH,
        name="schemas.cache.size",
        default=1000,
        doc="The most schemas kept ready in each direction.",
        group="Schemas",
        order=1,
        width=Width.MEDIUM,
        display_name="Schema Cache Size",
    )
    schema_content: str | None = key(
        HIGH,
        default=None,
        doc="A schema as JSON: what is read is then a payload of this schema, without an envelope.",
        group="Schemas",
        order=2,
        width=Width.MEDIUM,
        display_name="Schema Content",
    )
    numeric_decimals: bool = key(
        LOW,
        name="decimal.format",
        type=STRING,
        default="BASE64",
        check=one_of_ignoring_case("NUMERIC", "BASE64"),
        read=lambda form: form.upper() == "NUMERIC",
        doc="How decimals are written: BASE64 for their bytes, NUMERIC for a number. Both are read.",
        group="Serialization",
        order=0,
        width=Width.MEDIUM,
        display_name="Decimal Format",
    )
    replace_nulls: bool = key(
        LOW,
        name="replace.null.with.default",
        default=True,
        doc="A null becomes the default of its schema when there is one; false keeps the null.",
        group="Serialization",
        order=1,
        width=Width.MEDIUM,
        display_name="Replace null with default",
    )


class JsonConverter(Converter, HeaderConverter):
    """Writes what Kafka Connect's converter writes, byte for byte, and reads what it reads."""

    def configure(self, config: Config, is_key: bool = False) -> None:
        """Read whether schemas travel in an envelope, and how decimals and nulls are written."""
        settings = JsonConverterSettings.of(config, is_key=is_key)
        self._envelopes = settings.envelopes
        self._writers = JsonWriter(
            numeric_decimals=settings.numeric_decimals, replace_nulls=settings.replace_nulls
        )
        self._readers = JsonReader(replace_nulls=settings.replace_nulls)
        self._last_prefix = b""
        self._last_schema: Schema | None = None
        self._last_read: Reader = self._readers.reader(None)
        self._shapes = ShapeReader()
        size = settings.cache_size
        self._to_json = BoundedCache(size, self._prepare_writing)
        self._from_json = BoundedCache(size, self._prepare_reading)
        self._is_flat = BoundedCache(size, _is_flat)
        self._rows = BoundedCache(size, self._prepare_rows)
        content = settings.schema_content or ""
        self._fixed = (
            self._from_json.get(encoding.write(decoding.read(content.encode()))) if content else None
        )

    def from_connect(
        self, topic: str, headers: Headers | None, schema: Schema | None, value: ConnectValue
    ) -> bytes | None:
        """Return the JSON; null without a schema is a tombstone."""
        del topic, headers
        if schema is None and value is None:
            return None
        prefix, write = self._to_json.get(schema)
        if schema is None:
            payload = encoding.write_plain_batch([value], write)[0]
        else:
            payload = encoding.write(write(value))
        return prefix + payload + b"}" if self._envelopes else payload

    def from_connect_batch(
        self, topic: str, schema: Schema | None, values: Sequence[ConnectValue], utf8: bool = False
    ) -> list[bytes | None]:
        """Return the JSON of many values; those without schema, and structs as rows, at full speed."""
        if utf8:
            values = [value.decode() for value in values]
        rows = self._rows.get(schema)
        if rows is not None and (written := rows.write(values)) is not None:
            return written
        nodes = _plain_nodes(schema, values)
        if nodes is None:
            return [self.from_connect(topic, None, schema, value) for value in values]
        payloads = encoding.write_plain_batch(nodes, write_schemaless)
        prefix = self._to_json.get(schema)[0]
        return [prefix + payload + b"}" for payload in payloads] if self._envelopes else [*payloads]

    def _read_like_last(
        self, datas: Sequence[bytes | None]
    ) -> tuple[Schema | None, list[ConnectValue]] | None:
        """Read envelopes of the schema that the last one had; None when one has another."""
        if datas and datas[0] is not None and not datas[0].startswith(self._last_prefix or b"\0"):
            self.to_connect("", None, datas[0])
        schema, prefix = self._last_schema, self._last_prefix
        if not prefix or schema is None or not self._is_flat.get(schema):
            return None
        payloads = _payloads(prefix, datas)
        if payloads is None:
            return None
        try:
            structs = _read_structs(schema, decoding.read_batch_strictly(payloads))
        except decoding.NotStrictError:
            return None
        return None if structs is None else (schema, structs)

    def to_connect(self, topic: str, headers: Headers | None, data: bytes | None) -> SchemaAndValue:
        """Return the schema and the value that the JSON holds."""
        del topic, headers
        if data is None:
            return NULL
        if self._last_prefix and data.startswith(self._last_prefix) and data.endswith(b"}"):
            payload = data[len(self._last_prefix) : -1]
            with suppress(decoding.NotStrictError):
                return SchemaAndValue(self._last_schema, self._last_read(decoding.read_strictly(payload)))
        if not self._envelopes:
            return SchemaAndValue(None, decoding.read(data))
        if self._fixed is not None:
            schema, read, exactly = self._fixed
            node = decoding.read_for_schema(data, digits_as_written=exactly)
            return SchemaAndValue(schema, read(node))
        node = decoding.read_for_schema(data)
        if not isinstance(node, dict) or node.keys() != _ENVELOPE:
            raise DataError(_NO_ENVELOPE)
        schema_text = encoding.write(node["schema"])
        schema, read, exactly = self._from_json.get(schema_text)
        if exactly:
            return SchemaAndValue(
                schema, read(decoding.read_for_schema(data, digits_as_written=True)["payload"])
            )
        # Most messages of a topic begin alike: the next one's schema need not be parsed.
        self._last_prefix = _envelope_start(schema_text)
        self._last_schema, self._last_read = schema, read
        return SchemaAndValue(schema, read(node["payload"]))

    def to_connect_batch(
        self, topic: str, datas: Sequence[bytes | None]
    ) -> tuple[Schema | None, Sequence[ConnectValue]] | None:
        """Return the values of many; schemaless ones at full speed."""
        if self._envelopes:
            return self._read_like_last(datas) or super().to_connect_batch(topic, datas)
        texts = [data for data in datas if data is not None]
        if len(texts) == len(datas):
            columns = self._shapes.read(texts)
            return None, decoding.read_batch(texts) if columns is None else columns
        return None, [None if data is None else decoding.read(data) for data in datas]

    def to_connect_header(self, topic: str, key: str, data: bytes | None) -> SchemaAndValue:
        """Return the schema and the value that the JSON holds."""
        del key
        return self.to_connect(topic, None, data)

    def from_connect_header(
        self, topic: str, key: str, schema: Schema | None, value: ConnectValue
    ) -> bytes | None:
        """Return the JSON; null without a schema stays null."""
        del key
        return self.from_connect(topic, None, schema, value)

    def _prepare_writing(self, schema: Schema | None) -> tuple[bytes, Writer]:
        node = schema_to_node(schema, lambda of, value: self._writers.writer(of)(value))
        return _envelope_start(encoding.write(node)), self._writers.writer(schema)

    def _prepare_rows(self, schema: Schema | None) -> JsonRowWriter | None:
        if schema is None or not has_rows(schema):
            return None
        prefix, end = (self._to_json.get(schema)[0], b"}") if self._envelopes else (b"", b"")
        return JsonRowWriter(schema, prefix, end, self._writers.writer)

    def _prepare_reading(self, schema_text: bytes) -> tuple[Schema | None, Reader, bool]:
        node = decoding.read_for_schema(schema_text, digits_as_written=True)
        schema = schema_from_node(node, lambda of, default: self._readers.reader(of)(default))
        return schema, self._readers.reader(schema), reads_decimals(schema)


PLUGINS = tuple(
    PluginSpec(
        class_name=CLASS_NAME,
        kind=kind,
        version=KAFKA_VERSION,
        summary="JSON, with its schema in an envelope or without.",
        config=JsonConverterSettings.config_def(),
        factory=JsonConverter,
        examples={
            "Plain JSON": {"schemas.enable": "false"},
            "Readable decimals": {"decimal.format": "NUMERIC"},
        },
    )
    for kind in (PluginKind.CONVERTER, PluginKind.HEADER_CONVERTER)
)
