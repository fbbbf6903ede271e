"""Kafka messages as batches of sink records.

Messages whose converters work on columns become a lazy batch: no object per record until one is asked for.
Where a converter cannot, or fails, or there are transformations, it is made record by record, with tolerance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TypeVar

from copycat_connect.data.batches import SinkBatch
from copycat_connect.data.headers import Header, Headers
from copycat_connect.data.records import SinkRecord

from copycat_executor.pipeline.records.chain import Chain
from copycat_executor.pipeline.records.converters import Converters
from copycat_executor.pipeline.records.receiver import KafkaMessage
from copycat_executor.pipeline.records.tolerate import Tolerance
from copycat_executor.pipeline.records.traced import TracedRecord
from copycat_executor.pipeline.sink.decode_columns import (
    DecodedColumns,
    decode_columns,
    decode_headers,
    sink_record,
)
from copycat_executor.pipeline.task.stages import RecordSkippedError, Stage
from copycat_executor.pipeline.task.topic_ledger import TopicLedger

T = TypeVar("T")


class Decoder:
    """Makes the batches of one sink task."""

    def __init__(
        self,
        converters: Converters,
        chain: Chain,
        tolerance: Tolerance,
        topics: TopicLedger,
        *,
        traced: bool = False,
    ) -> None:
        """Compose the decoder; `traced` records remember their messages, for a reporter of failed records."""
        self._converters = converters
        self._chain = chain
        self._tolerance = tolerance
        self._topics = topics
        self._record_class: type[SinkRecord] = TracedRecord if traced else SinkRecord
        self._only_topic: str | None = None

    def expect(self, topics: Iterable[str]) -> None:
        """Say which topics the messages can be of."""
        distinct = set(topics)
        self._only_topic = distinct.pop() if len(distinct) == 1 else None

    def batch(self, messages: Sequence[KafkaMessage]) -> SinkBatch:
        """Convert and transform messages.

        Raises:
            ToleranceExceededError: One of them failed and that is not tolerated; nothing of them may be put.
            DrainedError: The task must end.
        """
        columns = decode_columns(messages, self._converters, self._only_topic, self._record_class)
        if columns is not None:
            for topic in set(columns.topics):
                self._topics.meet(topic)
            return self._transformed_batch(columns)
        return SinkBatch.of(self._one_by_one(messages))

    def _transformed_batch(self, columns: DecodedColumns) -> SinkBatch:
        done = 0
        if self._chain and columns.has_one_schema:
            schemas, values = columns.values
            try:
                changed = self._chain.apply_to_values(schemas[0], values)
            except BaseException:
                # Which record it was shows when they go one by one, from the start: values may have changed.
                return SinkBatch.of(self._one_by_one(columns.messages))
            done = changed.done
            if changed.places is not None:
                columns = columns.at(changed.places)
            columns = columns.with_values(changed.schema, changed.values)
        if done == len(self._chain):
            schemas, values = columns.values
            key_schemas, keys = columns.keys
            return SinkBatch(
                values,
                columns.record_at,
                keys=keys,
                topics=columns.topics,
                value_schemas=schemas,
                key_schemas=key_schemas,
                positions=columns.positions,
            )
        return SinkBatch.of(self._transformed(columns.records(), columns.messages, done))

    def _transformed(
        self, records: Iterable[SinkRecord], messages: Sequence[KafkaMessage], done: int = 0
    ) -> list[SinkRecord]:
        if self._chain.takes_records:
            return self._transformed_at_once(records, messages, done)
        kept: list[SinkRecord] = []
        for record, message in zip(records, messages, strict=True):
            try:
                result = self._chain.apply(record, message, done)
            except RecordSkippedError:
                continue
            if result is not None:
                kept.append(result)
        return kept

    def _transformed_at_once(
        self, records: Iterable[SinkRecord], messages: Sequence[KafkaMessage], done: int
    ) -> list[SinkRecord]:
        outcomes = self._chain.apply_to_records(records, messages, done)
        if outcomes.failure is not None:
            raise outcomes.failure
        return [record for _, record in outcomes.records]

    def _one_by_one(self, messages: Sequence[KafkaMessage]) -> list[SinkRecord]:
        kept: list[SinkRecord] = []
        waiting: list[tuple[SinkRecord, KafkaMessage]] = []
        for message in messages:
            try:
                record = self._record(message)
            except RecordSkippedError:
                continue
            self._topics.meet(message.topic())
            if self._chain.takes_records:
                waiting.append((record, message))
            else:
                kept += self._transformed((record,), (message,)) if self._chain else (record,)
        if waiting:
            kept = self._transformed((record for record, _ in waiting), [each for _, each in waiting])
        return kept

    def _record(self, message: KafkaMessage) -> SinkRecord:
        converters, topic = self._converters, message.topic()
        raw = message.headers()
        headers = Headers(Header(name, data) for name, data in raw) if raw else None  # undecoded yet
        key_of = partial(converters.key.to_connect, topic, headers, message.key())
        key = self._attempt(message, Stage.KEY_CONVERTER, converters.key_name, key_of)
        value_of = partial(converters.value.to_connect, topic, headers, message.value())
        value = self._attempt(message, Stage.VALUE_CONVERTER, converters.value_name, value_of)
        headers_of = partial(decode_headers, converters.header, topic, message)
        decoded = self._attempt(message, Stage.HEADER_CONVERTER, converters.header_name, headers_of)
        return sink_record(message, topic, *key, *value, decoded, self._record_class)

    def _attempt(self, message: KafkaMessage, stage: Stage, plugin: str, operation: Callable[[], T]) -> T:
        try:
            return operation()
        except BaseException as error:
            return self._tolerance.recover(error, message, stage, plugin, operation)

    def close(self) -> None:
        """Close the transformations and converters."""
        self._chain.close()
        self._converters.close()
