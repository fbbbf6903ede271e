"""Source records on their last steps: encoded, their topic created, handed to the producer."""

from __future__ import annotations

from collections.abc import Sequence

from copycat_connect.data.batches import SourceBatch
from copycat_connect.data.records import SourceRecord
from copycat_connect.data.schema import Schema

from copycat_executor.pipeline.records.sender import PlacedRecords, RecordWriter
from copycat_executor.pipeline.source.encode import Encoder
from copycat_executor.pipeline.source.written_records import WrittenRecords
from copycat_executor.pipeline.task.stages import RecordSkippedError
from copycat_executor.pipeline.task.topic_ledger import TopicLedger

Keys = tuple[Schema | None, list[object] | None]
Values = tuple[Schema | None, Sequence[object]]


class EncodingSender:
    """What both lanes end in: encodes columns or single records and hands them to the producer."""

    def __init__(
        self, encoder: Encoder, sender: RecordWriter, topics: TopicLedger, written: WrittenRecords
    ) -> None:
        self._encoder = encoder
        self._sender = sender
        self._topics = topics
        self._written = written
        self.delivered = 0

    def send_columns(self, topic: str, keys: Keys, values: Values, *, utf8: bool) -> bool:
        """Send records as columns of keys and values, each with its schema.

        Returns:
            False, with nothing sent, when a record cannot be encoded: they must go one by one.

        Raises:
            ConnectError: The topic is missing and cannot be created.
            DrainedError: The task must end.
        """
        columns = self._encoder.columns(topic, keys, values, utf8=utf8)
        if columns is None:
            return False
        self._topics.meet(topic)
        self._sender.send_values(topic, columns.values, columns.keys)
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
        keys = (batch.key_schema, batch.keys)
        columns = self._encoder.columns(batch.topic, keys, values, headers=batch.headers, utf8=batch.utf8)
        if columns is None:
            return False
        self._topics.meet(batch.topic)
        records = PlacedRecords(
            batch.topic,
            columns.values,
            columns.keys,
            columns.headers,
            batch.kafka_partition,
            batch.timestamps,
        )
        done = {place: self._written.teller(mark) for place, mark in (batch.watched or {}).items()}
        self._sender.send_placed(records, done)
        self.delivered += len(columns.values)
        return True

    def send_record(self, record: SourceRecord, original: SourceRecord) -> bool:
        """Send one record, made from an original that the task hears of and that reports show.

        Returns:
            False when it cannot be encoded and that is tolerated: it is dropped.

        Raises:
            ToleranceExceededError: It cannot be encoded and that is not tolerated.
            ConnectError: The topic is missing and cannot be created.
            DrainedError: The task must end.
        """
        try:
            outgoing = self._encoder.record(record, original)
        except RecordSkippedError:
            self._written.note(original, None)
            return False
        self._topics.meet(outgoing.topic)
        if self._written.hears_of(original):
            self._sender.send(outgoing, lambda metadata, _: self._written.note(original, metadata))
        else:
            self._sender.send(outgoing)
        self.delivered += 1
        return True
