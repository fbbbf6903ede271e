"""RegistryConverter: what converters of all formats do: find the schema's id, write it before the payload.

A schema is looked up and translated once; each further record of it costs no request and no translation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from copycat_avro.schema_text import SchemaText
from copycat_connect.bounded_cache import BoundedCache
from copycat_connect.cluster import Config
from copycat_connect.data import NULL, ConnectValue, Headers, Schema, SchemaAndValue
from copycat_connect.data.schema import STRING_SCHEMA
from copycat_connect.plugin import Converter

from copycat_registry import failures
from copycat_registry.client import RegistryConnection
from copycat_registry.schema_text import Decode, Encode, SchemaFormat
from copycat_registry.settings import RegistrySettings

_MAGIC_BYTE = b"\0"
_PREFIX_BYTES = 5


class RegistryConverter(Converter):
    """Converts with schemas of a registry; one format each."""

    def __init__(self, make_format: Callable[[Config], SchemaFormat]) -> None:
        """Nothing is connected yet; `make_format` takes the configuration."""
        self._make_format = make_format

    def configure(self, config: Config, is_key: bool = False) -> None:
        """Use the configuration.

        Raises:
            ConfigError: A key is missing or wrong.
        """
        self._settings = RegistrySettings.of(config, is_key=is_key)
        self._is_key = is_key
        self._subject = self._settings.key_subject if is_key else self._settings.value_subject
        self._format = self._make_format(config)
        self._registry = RegistryConnection(self._settings, self._format.name)
        self._writers = BoundedCache(self._settings.cache_size, self._prepare_writing)
        self._readers = BoundedCache(self._settings.cache_size, self._prepare_reading)

    def from_connect(
        self, topic: str, headers: Headers | None, schema: Schema | None, value: ConnectValue
    ) -> bytes | None:
        """Return schema id and payload; null for a null that has no payload.

        Raises:
            DataError: The value cannot be written, or the registry refuses its schema.
            RetriableError: The registry is away.
        """
        del headers
        if value is None and not self._format.null_payload(schema):
            return None
        prefix, encode = self._writers.get((topic, schema))
        return prefix + encode(value)

    def from_connect_batch(
        self, topic: str, schema: Schema | None, values: Sequence[ConnectValue], utf8: bool = False
    ) -> list[bytes | None]:
        """Return schema id and payload of each value.

        Raises:
            DataError: One cannot be written, or the registry refuses the schema.
            RetriableError: The registry is away.
        """
        if utf8:
            values, schema = [value.decode() for value in values], schema or STRING_SCHEMA
        if None in values:
            return [self.from_connect(topic, None, schema, value) for value in values]
        prefix, encode = self._writers.get((topic, schema))
        return [prefix + encode(value) for value in values]

    def to_connect(self, topic: str, headers: Headers | None, data: bytes | None) -> SchemaAndValue:
        """Return the value with the schema its id names.

        Raises:
            DataError: It cannot be read, or the registry does not know the id.
            RetriableError: The registry is away.
        """
        del headers
        if data is None:
            return NULL
        start = self._start(topic, data)
        schema, decode = self._readers.get((topic, data[:start]))
        return SchemaAndValue(schema, decode(data[start:]))

    def to_connect_batch(
        self, topic: str, datas: Sequence[bytes | None]
    ) -> tuple[Schema | None, Sequence[ConnectValue]] | None:
        """Return the values, when one schema wrote them all; None otherwise.

        Raises:
            DataError: One cannot be read, or the registry does not know the id.
            RetriableError: The registry is away.
        """
        first = datas[0] if datas else None
        if first is None:
            return super().to_connect_batch(topic, datas)
        start = self._start(topic, first)
        prefix = first[:start]
        same = [data[start:] for data in datas if data is not None and data.startswith(prefix)]
        if len(same) < len(datas):
            return None
        schema, decode = self._readers.get((topic, prefix))
        return schema, list(map(decode, same))

    def close(self) -> None:
        """Close the connection to the registry."""
        self._registry.close()

    def _start(self, topic: str, data: bytes) -> int:
        """Return where the payload begins; what is before it names what it is."""
        if len(data) < _PREFIX_BYTES or not data.startswith(_MAGIC_BYTE):
            raise failures.not_framed(topic, data, is_key=self._is_key)
        return _PREFIX_BYTES + self._format.head_length(data[_PREFIX_BYTES:])

    def _prepare_writing(self, wanted: tuple[str, Schema | None]) -> tuple[bytes, Encode]:
        topic, schema = wanted
        written = self._format.describe(schema)
        subject = self._subject(topic, self._is_key, written.record_name)
        schema_id, target = self._writing_schema(topic, subject, written.text)
        return _MAGIC_BYTE + schema_id.to_bytes(4, "big"), self._format.encoder(schema, target)

    def _writing_schema(self, topic: str, subject: str, own: SchemaText) -> tuple[int, SchemaText | None]:
        if self._settings.auto_register:
            return self._registry.register(topic, subject, own), None
        if self._settings.schema_id is not None:
            return self._settings.schema_id, self._registry.by_id(topic, self._settings.schema_id)
        if not self._settings.use_latest:
            return self._registry.lookup(topic, subject, own), None
        schema_id, latest = self._registry.latest(topic, subject)
        reason = self._format.misfit(own, latest) if self._settings.latest_strict else None
        if reason is not None:
            raise failures.misfit(topic, subject, reason)
        return schema_id, latest

    def _prepare_reading(self, wanted: tuple[str, bytes]) -> tuple[Schema | None, Decode]:
        topic, prefix = wanted
        schema_id = int.from_bytes(prefix[1:_PREFIX_BYTES], "big")
        text = self._registry.by_id(topic, schema_id)
        subject = self._subject(topic, self._is_key, self._format.record_name(text))
        latest = self._registry.latest(topic, subject) if self._settings.use_latest else None
        read_as = schema_id if latest is None else latest[0]
        version = self._registry.version(topic, read_as, subject)
        wanted_text = None if latest is None else latest[1]
        return self._format.decoder(text, wanted_text, version, prefix[_PREFIX_BYTES:])
