"""Kafka's producer behind the pipeline's port."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Final

from confluent_kafka import KafkaError, KafkaException, Message, Producer
from copycat_connect.data.topic_partition import RecordMetadata

from copycat_executor.pipeline.client_config import ClientConfig
from copycat_executor.pipeline.sender import Done, OutgoingRecord
from copycat_executor.pipeline.stages import DrainedError

OnFailure = Callable[[Exception, object], None]

_log = logging.getLogger(__name__)
_ROOM: Final = 0.05
_ANY_PARTITION: Final = -1


class KafkaSender:
    """Writes records through librdkafka (`RecordSender`).

    Without `report_each` successes cost nothing: only failures come back, `flush` tells that all is durable.
    """

    def __init__(
        self,
        config: ClientConfig,
        *,
        on_failure: OnFailure,
        draining: Callable[[], bool],
        report_each: bool = False,
    ) -> None:
        """Connect in the background; `draining` ends waits for room in the queue."""
        self._on_failure = on_failure
        self._draining = draining
        self._closed = False
        reports = {"on_delivery": self._delivered, "delivery.report.only.error": not report_each}
        properties: dict[str, object] = {**config.properties, **reports}
        self._producer = Producer(properties, logger=_log)

    def send_values(
        self, topic: str, values: Sequence[bytes | None], keys: Sequence[bytes | None] | None
    ) -> None:
        """Write plain records; waits while the queue is full."""
        produce = self._producer.produce
        if keys is None:
            for value in values:
                try:
                    produce(topic, value)
                except (BufferError, KafkaException) as error:
                    self._again(error, OutgoingRecord(topic, value))
        else:
            for value, key in zip(values, keys, strict=True):
                try:
                    produce(topic, value, key)
                except (BufferError, KafkaException) as error:
                    self._again(error, OutgoingRecord(topic, value, key))
        self._poll(0)

    def send(self, record: OutgoingRecord, done: Done | None = None) -> None:
        """Write one record; waits while the queue is full."""
        try:
            self._produce(record, done)
        except (BufferError, KafkaException) as error:
            self._again(error, record, done)
        self._poll(0)

    def _produce(self, record: OutgoingRecord, done: Done | None) -> None:
        self._producer.produce(
            record.topic,
            record.value,
            record.key,
            partition=_ANY_PARTITION if record.partition is None else record.partition,
            on_delivery=None if done is None else self._telling(done),
            timestamp=record.timestamp or 0,
            headers=list(record.headers) or None,
        )

    def _again(self, error: Exception, record: OutgoingRecord, done: Done | None = None) -> None:
        """Deal with a record that was not queued: wait for room, or give it up."""
        while isinstance(error, BufferError):
            if self._draining():
                raise DrainedError
            self._poll(_ROOM)
            try:
                self._produce(record, done)
            except (BufferError, KafkaException) as failure:
                error = failure
            else:
                return
        self._gave_up(error, record, done)

    def _telling(self, done: Done) -> Callable[[KafkaError | None, Message], None]:
        def delivered(error: KafkaError | None, message: Message) -> None:
            if error is not None:
                self._gave_up(KafkaException(error), message, done)
            else:
                done(_metadata(message), None)

        return delivered

    def _delivered(self, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            self._gave_up(KafkaException(error), message, None)

    def _gave_up(self, error: Exception, record: object, done: Done | None) -> None:
        if self._closed:
            return
        if done is not None:
            done(None, error)
        self._on_failure(error, record)

    def flush(self, seconds: float) -> bool:
        """Wait until everything is durable or failed."""
        return self._producer.flush(seconds) == 0

    def _poll(self, seconds: float) -> None:
        self._producer.poll(seconds)

    def drop(self) -> None:
        """Drop what is still queued; may be called by any thread."""
        self._closed = True
        self._producer.purge()

    def close(self) -> None:
        """Drop what is still queued and let go of the connections."""
        self.drop()
        # It flushes for ever, but nothing is left; only it breaks the circle through the delivery callback.
        self._producer.close()


def _metadata(message: Message) -> RecordMetadata:
    _, stamp = message.timestamp()
    return RecordMetadata(message.topic() or "", message.partition() or 0, message.offset() or 0, stamp)
