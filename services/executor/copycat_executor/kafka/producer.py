"""Kafka's producer behind the pipeline's port."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Final

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer
from copycat_connect.data.record_metadata import RecordMetadata

from copycat_executor.kafka.brokers import BOOTSTRAP_SERVERS, check_brokers
from copycat_executor.kafka.client_config import ClientConfig, connection_of
from copycat_executor.kafka.logins import LoginWatch
from copycat_executor.kafka.remedies import not_written
from copycat_executor.kafka.silent_producer import DeliveryWatch
from copycat_executor.kafka.taken_back import TakenBack
from copycat_executor.pipeline.records.sender import Done, OutgoingRecord
from copycat_executor.pipeline.task.stages import DrainedError

OnFailure = Callable[[Exception, object], None]

_log = logging.getLogger(__name__)
#: For a client that only looks whether brokers are there: the producer reports it when they are not.
_silent = logging.getLogger(f"{__name__}.witness")
_silent.setLevel(logging.CRITICAL + 1)
#: While the client's queue is full, between two looks whether the task must end.
_QUEUE_FULL_WAIT_SECONDS: Final = 0.05
_ANY_PARTITION: Final = -1
#: librdkafka's default of `batch.size`.
_DEFAULT_BATCH_BYTES: Final = 1_000_000
#: librdkafka's default of `request.timeout.ms`: how long a broker may wait for followers before it answers.
_DEFAULT_REQUEST_TIMEOUT_MS: Final = 30_000


class KafkaSender:
    """Writes records through librdkafka (`RecordSender`).

    Without `report_each` successes cost nothing: only failures come back, `flush` waits until all is durable.
    Batches larger than their topic takes are sent again in smaller ones, as Java's producer does. A client
    that lost all brokers for good is replaced, and what it had is sent again.
    """

    def __init__(
        self,
        config: ClientConfig,
        *,
        on_failure: OnFailure,
        draining: Callable[[], bool],
        report_each: bool = False,
        replaced: Callable[[], object] = lambda: None,
    ) -> None:
        """Connect in the background.

        `draining` ends waits for room in the queue; `replaced` is called when a stuck client was replaced.

        Raises:
            ConfigError: The brokers' addresses are none.
        """
        check_brokers(config)
        self._config = config
        self._on_failure = on_failure
        self._draining = draining
        self._closed = False
        self._login = LoginWatch("producer", config.properties[BOOTSTRAP_SERVERS])
        self._report_each = report_each
        self._replaced = replaced
        self._accepted = 0
        self._topic = ""
        self._back = TakenBack(int(config.properties.get("batch.size", _DEFAULT_BATCH_BYTES)))
        self._producer = self._connect()
        request_timeout = float(config.properties.get("request.timeout.ms", _DEFAULT_REQUEST_TIMEOUT_MS))
        self._silence = DeliveryWatch(self._connect_witness, request_timeout)

    def _connect(self) -> Producer:
        properties: dict[str, object] = {
            **self._config.properties,
            "batch.size": str(self._back.batch_size),
            "on_delivery": self._delivered,
            "delivery.report.only.error": not self._report_each,
            "error_cb": self._login.note,
        }
        return Producer(properties, logger=_log)

    def _connect_witness(self) -> Consumer:
        connection = connection_of(self._config)
        return Consumer({**connection, "group.id": connection["client.id"]}, logger=_silent)

    def send_values(
        self, topic: str, values: Sequence[bytes | None], keys: Sequence[bytes | None] | None
    ) -> None:
        """Write plain records; waits while the queue is full."""
        self._topic, self._accepted = topic, self._accepted + len(values)
        produce = self._producer.produce
        if keys is None:
            for value in values:
                try:
                    produce(topic, value)
                except (BufferError, KafkaException) as error:
                    self._again(error, OutgoingRecord(topic, value))
                    produce = self._producer.produce
        else:
            for value, key in zip(values, keys, strict=True):
                try:
                    produce(topic, value, key)
                except (BufferError, KafkaException) as error:
                    self._again(error, OutgoingRecord(topic, value, key))
                    produce = self._producer.produce
        self._poll(0)

    def send(self, record: OutgoingRecord, done: Done | None = None) -> None:
        """Write one record; waits while the queue is full."""
        self._topic, self._accepted = record.topic, self._accepted + 1
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
            on_delivery=self._on_delivery(record, done),
            timestamp=record.timestamp or 0,
            headers=list(record.headers) or None,
        )

    def _again(self, error: Exception, record: OutgoingRecord, done: Done | None = None) -> None:
        """Deal with a record that was not queued: wait for room, or give it up."""
        while isinstance(error, BufferError):
            if self._draining():
                raise DrainedError
            self._poll(_QUEUE_FULL_WAIT_SECONDS)
            self._replace_if_silent()
            try:
                self._produce(record, done)
            except (BufferError, KafkaException) as failure:
                error = failure
            else:
                return
        self._accepted -= 1
        refusal = not_written(record.topic, error.args[0]) if isinstance(error, KafkaException) else error
        self._gave_up(refusal, record, done)

    def _on_delivery(
        self, record: OutgoingRecord, done: Done | None
    ) -> Callable[[KafkaError | None, Message], None]:
        def delivered(error: KafkaError | None, message: Message) -> None:
            if error is not None:
                self._failed(error, message, record, done)
            elif done is not None:
                done(_metadata(message), None)

        return delivered

    def _delivered(self, error: KafkaError | None, message: Message) -> None:
        """Take note of what became of a plain record; called by the client within `poll` and `flush`."""
        if error is not None:
            topic, partition = message.topic() or "", message.partition()
            record = OutgoingRecord(topic, message.value(), message.key(), partition=partition)
            self._failed(error, message, record, None)

    def _failed(self, error: KafkaError, message: Message, record: OutgoingRecord, done: Done | None) -> None:
        if not self._back.keep(error, record, done):
            self._gave_up(not_written(record.topic, error), message, done)

    def _gave_up(self, error: Exception, record: object, done: Done | None) -> None:
        if self._closed:
            return
        if done is not None:
            done(None, error)
        self._on_failure(error, record)

    def flush(self, seconds: float) -> bool:
        """Wait until everything is durable or failed."""
        done = self._producer.flush(seconds) == 0
        self._login.check()
        if self._back:
            self._resend()
            return False
        if done:
            self._silence.settled()
        else:
            self._replace_if_silent()
        return done

    def under_way(self) -> int:
        """Return how many records are neither durable nor failed yet."""
        return len(self._producer)

    def _poll(self, seconds: float) -> None:
        self._producer.poll(seconds)
        self._login.check()
        if self._back:
            self._resend()

    def _replace_if_silent(self) -> None:
        """Replace a client that lost all brokers for good; to be called while waiting for it."""
        if self._is_silent():
            self._back.everything = True
            self._resend()

    def _is_silent(self) -> bool:
        if self._draining() or self._closed:
            return False
        waiting = len(self._producer)
        silent = self._silence.is_silent(self._producer, self._topic, self._accepted - waiting)
        if silent:
            _log.warning(
                "The Kafka producer delivers nothing any more and is replaced: %d records wait, the last for "
                "topic %s, and it hears from no broker though another client does. Nothing is lost: the "
                "next one sends them again in their order",
                waiting,
                self._topic,
            )
        return silent

    def _resend(self) -> None:
        """Write again what is given back, before all that comes after it, through another client."""
        self._producer.purge(in_flight=self._back.everything)
        while self._producer.flush(_QUEUE_FULL_WAIT_SECONDS):
            if self._draining() or self._closed:
                return  # `flush` comes back to it
            if not self._back.everything and self._is_silent():
                self._back.everything = True
                self._producer.purge()
        replaced, batch_size = self._back.everything, self._back.batch_size
        again = self._back.take()
        if self._back.batch_size < batch_size:
            _log.warning(
                "Topic %s takes no batches as large as batch.size; from now on they have %d bytes at most",
                again[0][0].topic,
                self._back.batch_size,
            )
        self._producer.close()
        self._producer = self._connect()
        if replaced:
            self._replaced()
        for record, done in again:  # no more than the queue holds
            try:
                self._produce(record, done)
            except KafkaException as error:
                self._again(error, record, done)

    def drop(self) -> None:
        """Drop what is still queued; may be called by any thread."""
        self._closed = True
        self._producer.purge()

    def close(self) -> None:
        """Drop what is still queued and let go of the connections."""
        self.drop()
        # It flushes for ever, but nothing is left; only it breaks the circle through the delivery callback.
        self._producer.close()
        self._silence.close()


def _metadata(message: Message) -> RecordMetadata:
    _, stamp = message.timestamp()
    return RecordMetadata(message.topic() or "", message.partition() or 0, message.offset() or 0, stamp)
