"""Source records in the bytes Kafka stores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from copycat_connect.data.headers import Headers
from copycat_connect.data.records import SourceRecord
from copycat_connect.data.schema import OPTIONAL_BYTES_SCHEMA, Schema

from copycat_executor.pipeline.records.converters import Converters
from copycat_executor.pipeline.records.sender import KafkaHeaders, OutgoingRecord
from copycat_executor.pipeline.records.tolerate import Tolerance
from copycat_executor.pipeline.task.stages import Stage


@dataclass(frozen=True, slots=True)
class Columns:
    """Encoded records of one topic."""

    values: list[bytes | None]
    """The values."""
    keys: list[bytes | None] | None
    """The keys; None when no record has one."""
    headers: list[KafkaHeaders] | None = None
    """The headers; None when no record has any."""


class Encoder:
    """Encodes with a task's converters."""

    def __init__(self, converters: Converters, tolerance: Tolerance) -> None:
        self._converters = converters
        self._tolerance = tolerance

    def columns(
        self,
        topic: str,
        keys: tuple[Schema | None, list[object] | None],
        values: tuple[Schema | None, Sequence[object]],
        *,
        headers: Sequence[KafkaHeaders] | None = None,
        utf8: bool,
    ) -> Columns | None:
        """Encode many records at once; None when one of them fails, so that record by record finds it."""
        value_schema, plain_values = values
        try:
            encoded_keys = self._keys(topic, keys, len(plain_values))
            encoded = self._converters.value.from_connect_batch(topic, value_schema, plain_values, utf8)
            encoded_headers = None if headers is None else [self._raw(topic, each) for each in headers]
        except BaseException:
            return None
        return Columns(encoded, encoded_keys, encoded_headers)

    def _raw(self, topic: str, headers: KafkaHeaders) -> KafkaHeaders:
        if not headers:
            return headers
        encode = self._converters.header.from_connect_header
        return [(name, encode(topic, name, OPTIONAL_BYTES_SCHEMA, value)) for name, value in headers]

    def _keys(
        self, topic: str, keys: tuple[Schema | None, list[object] | None], count: int
    ) -> list[bytes | None] | None:
        schema, plain = keys
        converter = self._converters.key
        if plain and (plain[0] is not None or plain.count(None) < len(plain)):
            return converter.from_connect_batch(topic, schema, plain)
        nothing = converter.from_connect(topic, None, schema, None)
        return None if nothing is None else [nothing] * count

    def record(self, record: SourceRecord, original: SourceRecord) -> OutgoingRecord:
        """Encode one record.

        Raises:
            RecordSkippedError: It failed and that is tolerated.
            ToleranceExceededError: It failed and that is not tolerated.
        """
        topic = record.topic
        headers = record.headers if record.has_headers else None
        kafka_headers = () if headers is None else self._headers(topic, headers, original)
        key_of = partial(self._converters.key.from_connect, topic, headers, record.key_schema, record.key)
        try:
            key = key_of()
        except BaseException as error:
            name = self._converters.key_name
            key = self._tolerance.recover(error, original, Stage.KEY_CONVERTER, name, key_of)
        value_of = partial(
            self._converters.value.from_connect, topic, headers, record.value_schema, record.value
        )
        try:
            value = value_of()
        except BaseException as error:
            name = self._converters.value_name
            value = self._tolerance.recover(error, original, Stage.VALUE_CONVERTER, name, value_of)
        return OutgoingRecord(topic, value, key, kafka_headers, record.kafka_partition, record.timestamp)

    def _headers(
        self, topic: str, headers: Headers, original: SourceRecord
    ) -> list[tuple[str, bytes | None]]:
        encoded: list[tuple[str, bytes | None]] = []
        for header in headers:
            value_of = partial(
                self._converters.header.from_connect_header, topic, header.key, header.schema, header.value
            )
            try:
                value = value_of()
            except BaseException as error:
                name = self._converters.header_name
                value = self._tolerance.recover(error, original, Stage.HEADER_CONVERTER, name, value_of)
            encoded.append((header.key, value))
        return encoded
