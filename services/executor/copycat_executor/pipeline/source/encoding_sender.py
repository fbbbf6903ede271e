"""Source records on their last steps: encoded, their topic created, handed to the producer."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, cast

from copycat_connect.data.batches import SourceBatch
from copycat_connect.data.headers import Headers
from copycat_connect.data.records import SourceRecord
from copycat_connect.data.schema import OPTIONAL_BYTES_SCHEMA, Schema
from copycat_connect.errors import DataError

from copycat_executor.pipeline.records.converters import Converters
from copycat_executor.pipeline.records.sender import (
    NO_TIMESTAMP,
    KafkaHeaders,
    OutgoingRecord,
    PlacedRecords,
    RecordWriter,
    Times,
)
from copycat_executor.pipeline.records.tolerate import Tolerance
from copycat_executor.pipeline.source.sent_records import TASK_CLASS, WrittenRecords
from copycat_executor.pipeline.task.stages import RecordSkippedError, Stage
from copycat_executor.pipeline.task.topic_ledger import TopicLedger

Keys = tuple[Schema | None, list[object] | None]
Values = tuple[Schema | None, Sequence[object]]


_EARLIEST: Final = 0
_LATEST: Final = 2**63 - 1


@dataclass(frozen=True, slots=True)
class _Columns:
    """Encoded records of one topic."""

    values: list[bytes | None]
    """The values."""
    keys: list[bytes | None] | None
    """The keys; None when no record has one."""
    headers: list[KafkaHeaders] | None = None
    """The headers; None when no record has any."""


class EncodingSender:
    """What both lanes end in: encodes columns or single records and hands them to the producer."""

    def __init__(
        self,
        converters: Converters,
        tolerance: Tolerance,
        sender: RecordWriter,
        topics: TopicLedger,
        written: WrittenRecords,
    ) -> None:
        self._converters = converters
        self._tolerance = tolerance
        self._sender = sender
        self._topics = topics
        self._written = written
        self.delivered = 0

    def send_columns(self, topic: str, keys: Keys, values: Values, *, utf8: bool, timestamps: Times) -> bool:
        """Send records as columns of keys and values, each with its schema.

        Returns:
            False, with nothing sent, when a record cannot be encoded: they must go one by one.

        Raises:
            ConnectError: The topic is missing and cannot be created.
            DrainedError: The task must end.
        """
        if not (_is_name(topic) and _are_times(timestamps)):
            return False
        columns = self._encode_columns(topic, keys, values, utf8=utf8)
        if columns is None:
            return False
        self._topics.meet(topic)
        if timestamps is None:
            self._sender.send_values(topic, columns.values, columns.keys)
        else:
            placed = PlacedRecords(topic, columns.values, columns.keys, None, None, timestamps)
            self._sender.send_placed(placed, {})
        self.delivered += len(columns.values)
        return True

    def send_placed(self, batch: SourceBatch, values: Values) -> bool:
        """Send the records of a batch that has partition, timestamps, headers or watched records.

        Returns:
            False, with nothing sent, when a record cannot be encoded: they must go one by one.

        Raises:
            ConnectError: The topic is missing and cannot be created.
            DrainedError: The task must end.
        """
        timestamps = batch.timestamp if batch.timestamps is None else batch.timestamps
        if not (_is_name(batch.topic) and _is_partition(batch.kafka_partition) and _are_times(timestamps)):
            return False
        keys = (batch.key_schema, batch.keys)
        columns = self._encode_columns(batch.topic, keys, values, headers=batch.headers, utf8=batch.utf8)
        if columns is None:
            return False
        self._topics.meet(batch.topic)
        records = PlacedRecords(
            batch.topic,
            columns.values,
            columns.keys,
            columns.headers,
            batch.kafka_partition,
            timestamps,
        )
        done = {place: self._written.mark_callback(mark) for place, mark in (batch.watched or {}).items()}
        self._sender.send_placed(records, done)
        self.delivered += len(columns.values)
        return True

    def send_record(self, record: SourceRecord, original: SourceRecord) -> bool:
        """Send one record, made from an original that is reported to the task and shown in error reports.

        Returns:
            False when it cannot be encoded and that is tolerated: it is dropped.

        Raises:
            ToleranceExceededError: It cannot be encoded and that is not tolerated.
            ConnectError: The topic is missing and cannot be created.
            DrainedError: The task must end.
        """
        try:
            outgoing = self._encode(record, original)
        except RecordSkippedError:
            self._written.note(original, None)
            return False
        self._topics.meet(outgoing.topic)
        if self._written.is_wanted(original):
            self._sender.send(outgoing, lambda metadata, _: self._written.note(original, metadata))
        else:
            self._sender.send(outgoing)
        self.delivered += 1
        return True

    def _encode_columns(
        self,
        topic: str,
        keys: tuple[Schema | None, list[object] | None],
        values: tuple[Schema | None, Sequence[object]],
        *,
        headers: Sequence[KafkaHeaders] | None = None,
        utf8: bool,
    ) -> _Columns | None:
        """Encode many records at once; None when one of them fails, so that record by record finds it."""
        value_schema, plain_values = values
        try:
            encoded_keys = self._encode_keys(topic, keys, len(plain_values))
            encoded = self._converters.value.from_connect_batch(topic, value_schema, plain_values, utf8)
            encoded_headers = None if headers is None else [self._encode_raw(topic, each) for each in headers]
        except BaseException:
            return None
        return _Columns(encoded, encoded_keys, encoded_headers)

    def _encode_raw(self, topic: str, headers: KafkaHeaders) -> KafkaHeaders:
        if not headers:
            return headers
        encode = self._converters.header.from_connect_header
        return [(name, encode(topic, name, OPTIONAL_BYTES_SCHEMA, value)) for name, value in headers]

    def _encode_keys(
        self, topic: str, keys: tuple[Schema | None, list[object] | None], count: int
    ) -> list[bytes | None] | None:
        schema, plain = keys
        converter = self._converters.key
        if plain and (plain[0] is not None or plain.count(None) < len(plain)):
            return converter.from_connect_batch(topic, schema, plain)
        nothing = converter.from_connect(topic, None, schema, None)
        return None if nothing is None else [nothing] * count

    def _encode(self, record: SourceRecord, original: SourceRecord) -> OutgoingRecord:
        """Encode one record.

        Raises:
            RecordSkippedError: It failed and that is tolerated.
            ToleranceExceededError: It failed and that is not tolerated.
        """
        try:
            _check(record)
        except DataError as error:
            again = partial(_check, record)
            self._tolerance.recover(error, original, Stage.KAFKA_PRODUCE, TASK_CLASS, again)
        topic = record.topic
        headers = record.headers if record.has_headers else None
        kafka_headers = () if headers is None else self._encode_headers(topic, headers, original)
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

    def _encode_headers(
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


def _check(record: SourceRecord) -> None:
    """Refuse what no record of Kafka can have, and what the client would write as something else.

    Raises:
        DataError: There is something of that kind.
    """
    if not _is_name(record.topic):
        raise DataError(f"The record has no topic: it is {record.topic!r}, and must be a name")
    if not _is_partition(record.kafka_partition):
        raise DataError(
            f"The record for topic {record.topic} has partition {record.kafka_partition!r}: it must be 0 or "
            "more, or None"
        )
    stamp = record.timestamp
    if stamp is not None and stamp != NO_TIMESTAMP and not _is_time(stamp):
        raise DataError(
            f"The record for topic {record.topic} has timestamp {stamp!r}: it must be milliseconds since the "
            "epoch, 0 or more, or None"
        )
    if record.has_headers and not all(isinstance(each.key, str) for each in record.headers):
        raise DataError(f"A header of the record for topic {record.topic} has no key")


def _is_name(topic: object) -> bool:
    return isinstance(topic, str) and topic != ""


def _is_partition(partition: object) -> bool:
    return partition is None or (isinstance(partition, int) and partition >= 0)


def _is_time(stamp: object) -> bool:
    return isinstance(stamp, int) and _EARLIEST <= stamp <= _LATEST


def _are_times(timestamps: Times) -> bool:
    """Return whether all can be written as they are; no step of Python for each, as a rule."""
    if timestamps is None or isinstance(timestamps, int):
        return timestamps is None or _is_time(timestamps)
    try:
        return min(array("q", cast("Sequence[int]", timestamps)), default=_EARLIEST) >= _EARLIEST
    except (TypeError, OverflowError):
        return all(each is None or _is_time(each) for each in timestamps)
