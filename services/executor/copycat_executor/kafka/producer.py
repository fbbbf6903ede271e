"""Kafka's producer behind the pipeline's port.

A topic may refuse a batch although each of its records is small enough. Java's producer splits such a batch
and sends the parts in its place (`Sender#canSplit`); librdkafka gives up all of its records. Here they are
kept, to be sent again in smaller batches; a batch small enough that was under way meanwhile stays before
them.

A producer that is replaced gives back all it had; what was on its way to a broker may be written twice.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final

from confluent_kafka import Consumer, KafkaError, KafkaException, Message

from copycat_executor.kafka.client_config import ClientConfig, connection_of
from copycat_executor.kafka.client_statistics import ClientStatistics
from copycat_executor.kafka.producing import QUEUE_FULL_WAIT_SECONDS, OnFailure, Producing
from copycat_executor.kafka.silent_producer import DeliveryWatch
from copycat_executor.pipeline.records.sender import Done, OutgoingRecord
from copycat_executor.pipeline.task.stages import DrainedError

_Unwritten = tuple[OutgoingRecord, Done | None]

#: First the default of Java's producer, then each record alone.
_SMALLER_BATCHES_BYTES: Final = (16_384, 1)
_PURGED_IN_FLIGHT: Final = KafkaError._PURGE_INFLIGHT
_PURGED_IN_QUEUE: Final = KafkaError._PURGE_QUEUE


class _TakenBack:
    """Keeps the records in their order, and knows how large the next batches may be."""

    def __init__(self, batch_size: int, *, repeats: bool = True) -> None:
        """Start with what the producer begins with, bytes; `repeats` as for the producer."""
        self.batch_size = batch_size
        self._again = {_PURGED_IN_FLIGHT, _PURGED_IN_QUEUE} if repeats else {_PURGED_IN_QUEUE}
        self.everything = False
        """Whether the producer is to give back what is on its way to brokers, too."""
        self._records: list[tuple[bool, _Unwritten]] = []
        self._refused = False

    def __bool__(self) -> bool:
        return self.everything or bool(self._records)

    def keep(self, error: KafkaError, record: OutgoingRecord, done: Done | None) -> bool:
        """Keep a record that is to be sent again; False when it failed for itself."""
        code = error.code()
        if code == KafkaError.MSG_SIZE_TOO_LARGE:
            kept = self._next() is not None and _size(record) <= self.batch_size
            self._refused |= kept
        else:  # what was queued behind a refused batch is taken back, to come after it again
            kept = bool(self) and code in self._again
        if kept:
            self._records.append((code == _PURGED_IN_QUEUE, (record, done)))
        return kept

    def take(self) -> list[_Unwritten]:
        """Return what is to be sent again, and go on to smaller batches where some were too large."""
        if self._refused:
            self.batch_size = self._next() or self.batch_size
        taken, self._records = self._records, []
        self._refused = self.everything = False
        # Of each partition what had been sent was before what waited.
        return [record for _, record in sorted(taken, key=lambda each: each[0])]

    def _next(self) -> int | None:
        return next((size for size in _SMALLER_BATCHES_BYTES if size < self.batch_size), None)


def _size(record: OutgoingRecord) -> int:
    headers = sum(len(name) + len(value or b"") for name, value in record.headers)
    return len(record.value or b"") + len(record.key or b"") + headers


_log = logging.getLogger(__name__)
#: For a client that only looks whether brokers are there: the producer reports it when they are not.
_silent = logging.getLogger(f"{__name__}.witness")
_silent.setLevel(logging.CRITICAL + 1)
#: librdkafka's default of `batch.size`.
_DEFAULT_BATCH_BYTES: Final = 1_000_000
#: librdkafka's default of `request.timeout.ms`: how long a broker may wait for followers before it answers.
_DEFAULT_REQUEST_TIMEOUT_MS: Final = 30_000

_SENT_AGAIN: Final = "Nothing is lost: the next one sends them again in their order"
_NOT_SENT_AGAIN: Final = "What is on its way to a broker may have been written, so it is not sent again"


class KafkaSender(Producing):
    """Writes records through librdkafka (`RecordSender`).

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
        statistics: ClientStatistics | None = None,
        replaced: Callable[[], object] = lambda: None,
        repeats: bool = True,
    ) -> None:
        """Connect in the background.

        Args:
            config: The producer's settings.
            on_failure: Gets each record that cannot be written.
            draining: Ends waits for room in the queue.
            report_each: Whether successes are reported as well.
            statistics: Hears what the client reports of itself.
            replaced: Called when a stuck client was replaced.
            repeats: Whether a record that may have been written already may be written again; otherwise it
                fails when its client is replaced.

        Raises:
            ConfigError: The brokers' addresses are invalid.
        """
        self._replaced = replaced
        self._repeats = repeats
        self._back = _TakenBack(
            int(config.properties.get("batch.size", _DEFAULT_BATCH_BYTES)), repeats=repeats
        )
        super().__init__(
            config, on_failure=on_failure, draining=draining, report_each=report_each, statistics=statistics
        )
        request_timeout = float(config.properties.get("request.timeout.ms", _DEFAULT_REQUEST_TIMEOUT_MS))
        self._silence = DeliveryWatch(self._connect_witness, request_timeout)

    def _settings(self) -> dict[str, object]:
        return {"batch.size": str(self._back.batch_size)}

    def _connect_witness(self) -> Consumer:
        connection = connection_of(self._config)
        return Consumer({**connection, "group.id": connection["client.id"]}, logger=_silent)

    def _again(self, error: Exception, record: OutgoingRecord, done: Done | None = None) -> None:
        """Deal with a record that was not queued: wait for room, or give it up."""
        while isinstance(error, BufferError):
            if self._draining():
                raise DrainedError
            self._poll(QUEUE_FULL_WAIT_SECONDS)
            self._replace_if_silent()
            try:
                self._produce(record, done)
            except (BufferError, KafkaException) as failure:
                error = failure
            else:
                return
        self._accepted -= 1
        refusal = self._refusal(record.topic, error.args[0]) if isinstance(error, KafkaException) else error
        self._gave_up(refusal, record, done)

    def _failed(self, error: KafkaError, message: Message, record: OutgoingRecord, done: Done | None) -> None:
        if not self._back.keep(error, record, done):
            super()._failed(error, message, record, done)

    def flush(self, seconds: float) -> bool:
        """Wait until everything is durable or failed."""
        done = self._producer.flush(seconds) == 0
        self._login.check()
        if self._back:
            self._resend()
            return False
        if done:
            self._all_durable()
            self._silence.settled()
        else:
            self._replace_if_silent()
        return done

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

    def _why(self) -> str:
        return self._silence.why

    def _is_silent(self) -> bool:
        if self._draining() or self._closed:
            return False
        waiting = len(self._producer)
        silent = self._silence.is_silent(self._producer, self._topic, self._accepted - waiting)
        if silent:
            _log.warning(
                "The Kafka producer delivers nothing any more and is replaced: %d records wait, the last for "
                "topic %s, and it hears from no broker though another client does. %s",
                waiting,
                self._topic,
                _SENT_AGAIN if self._repeats else _NOT_SENT_AGAIN,
            )
        return silent

    def _resend(self) -> None:
        """Write again what is given back, before all that comes after it, through another client."""
        self._producer.purge(in_flight=self._back.everything)
        while self._producer.flush(QUEUE_FULL_WAIT_SECONDS):
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

    def close(self) -> None:
        """Drop what is still queued and let go of the connections."""
        self.drop()
        # It flushes for ever, but nothing is left; only it breaks the circle through the delivery callback.
        self._producer.close()
        self._silence.close()
