"""Kafka's producer with transactions behind the pipeline's port (`TransactionalSender`)."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Final, NoReturn

from confluent_kafka import KafkaError, KafkaException, Message
from copycat_connect.errors import ConnectError

from copycat_executor.kafka.client_config import TRANSACTIONAL_ID, ClientConfig
from copycat_executor.kafka.client_statistics import ClientStatistics
from copycat_executor.kafka.producing import QUEUE_FULL_WAIT_SECONDS, OnFailure, Producing
from copycat_executor.kafka.remedies import (
    ERRONEOUS_STATE,
    FATAL,
    FENCED,
    gone_topic,
    not_begun,
    not_committed,
)
from copycat_executor.kafka.silent_producer import (
    CHECK_INTERVAL_SECONDS,
    unknown_topics,
    why_nothing_is_taken,
)
from copycat_executor.pipeline.records.sender import Done, OutgoingRecord, PlacedRecords
from copycat_executor.pipeline.source.transactions import ProducerFencedError
from copycat_executor.pipeline.task.stages import DrainedError

_log = logging.getLogger(__name__)

#: Between two looks whether the task must end, while the brokers are waited for.
_CHECK_SECONDS: Final = 0.5
#: So soon a topic is there that a broker creates by itself.
_CREATED_SECONDS: Final = 2.0
#: A task that has to end waits so long for brokers that do not answer.
_DRAIN_PATIENCE_SECONDS: Final = 3.0
#: For a last word to the brokers, so that readers need not wait for the transaction's time-out.
_ABORT_AT_CLOSE_SECONDS: Final = 1.0
_FENCED_CODES: Final = frozenset({
    FENCED,
    KafkaError.INVALID_PRODUCER_EPOCH,
    KafkaError.PRODUCER_FENCED,
})  # fmt: skip


class KafkaTransactionalSender(Producing):
    """Writes records in transactions of one transactional id; of no more use after a failure."""

    def __init__(
        self,
        config: ClientConfig,
        coordinator_topic: str,
        *,
        on_failure: OnFailure,
        draining: Callable[[], bool],
        dropped: Callable[[], bool],
        report_each: bool = False,
        statistics: ClientStatistics | None = None,
    ) -> None:
        """Connect in the background; `dropped` ends every wait at once, `draining` after some seconds.

        `coordinator_topic` is any topic that exists: the first answers about it speed up `prepare`.
        """
        super().__init__(
            config, on_failure=on_failure, draining=draining, report_each=report_each, statistics=statistics
        )
        self._dropped = dropped
        self._warm_up_topic = coordinator_topic
        self._id = config.properties[TRANSACTIONAL_ID]
        self._began: float | None = None
        self._first_failure: ConnectError | None = None
        self._held_up = ""
        self._unknown_topics: set[str] = set()
        self._dead = False

    @property
    def open(self) -> bool:
        """Whether records were handed over since the last commit or abort."""
        return self._began is not None

    def prepare(self) -> None:
        """Fence the producer that had this transactional id before, and end its transaction."""
        self._warm_up()
        wait = _Patience(self._draining, self._dropped)
        while True:
            try:
                self._producer.init_transactions(_CHECK_SECONDS)
            except KafkaException as error:
                self._login.check()
                if not error.args[0].retriable():
                    raise not_begun(self._id, error.args[0]) from error
                wait.check()
            else:
                return

    def send_values(
        self, topic: str, values: Sequence[bytes | None], keys: Sequence[bytes | None] | None
    ) -> None:
        """Write plain records; waits while the queue is full."""
        self._begin()
        super().send_values(topic, values, keys)

    def send_placed(self, records: PlacedRecords, done: Mapping[int, Done]) -> None:
        """Write records with partition, timestamps or headers; waits while the queue is full."""
        self._begin()
        super().send_placed(records, done)

    def send(self, record: OutgoingRecord, done: Done | None = None) -> None:
        """Write one record; waits while the queue is full."""
        self._begin()
        super().send(record, done)

    def flush(self, seconds: float) -> bool:
        """Wait until everything is durable or failed."""
        try:
            left = self._producer.flush(seconds)
        except (KafkaException, SystemError) as error:
            self._fail(error)
        self._login.check()
        return left == 0

    def commit(self, offsets: Sequence[OutgoingRecord]) -> None:
        """Write the records that state offsets, then make the transaction durable and visible."""
        self._begin()
        for record in offsets:
            self.send(record)
        wait = _Patience(self._draining, self._dropped)
        self.flush(_CHECK_SECONDS)
        if self._first_failure is not None:
            self._void(self._first_failure)
        # It waits for what is on its way, too, but not for records of a transaction that failed: of one whose
        # topic was deleted they would be waited for until they are too old.
        while not self._committed():
            self._login.check()
            self._wait(wait)
        self._held_up = ""
        self._all_durable()

    def abort(self) -> None:
        """Make everything of the transaction void."""
        if self._began is None or self._dead:
            return
        self._abort(_Patience(self._draining, self._dropped).check)
        self._first_failure = None
        self._topics.clear()

    def close(self) -> None:
        """Abort what is open, if the brokers answer at once, and let go of the connections."""
        self._closed = True
        if self._began is not None and not self._dead:
            try:
                self._producer.abort_transaction(_ABORT_AT_CLOSE_SECONDS)
            except (KafkaException, SystemError) as error:
                _log.info("A transaction was left open, its time-out or a successor ends it: %s", error)
        self.drop()
        # It flushes for ever, but nothing is left; only it breaks the circle through the delivery callback.
        with suppress(KafkaException):  # of a client that had ended already
            self._producer.close()

    def _committed(self) -> bool:
        """Try to commit; False when the brokers have not answered yet."""
        if self._closed:
            raise DrainedError
        try:
            self._producer.commit_transaction(_CHECK_SECONDS)
        except (KafkaException, SystemError) as error:
            known = _kafka_error(error)
            if known is None or not known.retriable():
                self._fail(error)
            return False
        self._began = None
        return True

    def _begin(self) -> None:
        if self._began is not None:
            return
        try:
            self._producer.begin_transaction()
        except (KafkaException, SystemError) as error:
            self._fail(error)
        self._began = time.monotonic()

    def _warm_up(self) -> None:
        # Asked before it is connected, librdkafka waits half a second before it looks for a coordinator.
        # The first answer comes over a bootstrap connection, which it then drops; the second does not.
        for _ in range(2):
            try:
                self._producer.list_topics(self._warm_up_topic, _CHECK_SECONDS)
            except KafkaException:
                return  # what is wrong shows in `prepare`

    def _again(self, error: Exception, record: OutgoingRecord, done: Done | None = None) -> None:
        """Wait for room in the queue; nothing else passes within a transaction."""
        wait = _Patience(self._draining, self._dropped)
        while isinstance(error, BufferError):
            self._wait(wait)
            self._poll(QUEUE_FULL_WAIT_SECONDS)
            try:
                self._produce(record, done)
            except (BufferError, KafkaException) as failure:
                error = failure
            else:
                self._held_up = ""
                return
        known = _kafka_error(error)
        if known is not None and known.code() == ERRONEOUS_STATE:
            self._fail(self._reason() or error)
        if known is None or known.fatal():
            self._fail(error)
        raise self._refusal(record.topic, known)

    def _reason(self) -> Exception | None:
        """Return why the transaction has failed already: the client says so when it is asked to commit it."""
        try:
            self._producer.commit_transaction(_CHECK_SECONDS)
        except (KafkaException, SystemError) as error:
            return error
        return None

    def _wait(self, wait: _Patience) -> None:
        """Check whether to wait on; when that takes long, find out what for."""
        wait.check()
        if not wait.is_long():
            return
        unknown = unknown_topics(self._producer, self._topics & self._written)
        if gone := unknown & self._unknown_topics:
            self._void(gone_topic(self._id, min(gone)))
        if unknown:  # a broker that creates topics by itself has just been asked to
            wait.look_soon()
        self._unknown_topics = unknown
        self._held_up = why_nothing_is_taken(self._producer, self._topic or self._warm_up_topic)

    def _why(self) -> str:
        return self._held_up

    def _poll(self, seconds: float) -> None:
        try:
            self._producer.poll(seconds)
        except (KafkaException, SystemError) as error:
            self._fail(error)
        self._login.check()

    def _failed(self, error: KafkaError, message: Message, record: OutgoingRecord, done: Done | None) -> None:
        if error.code() in {KafkaError._PURGE_QUEUE, KafkaError._PURGE_INFLIGHT}:
            return  # it goes with its transaction, whose end has another reason
        self._first_failure = self._first_failure or self._refusal(record.topic, error)
        super()._failed(error, message, record, done)

    def _fail(self, error: Exception) -> NoReturn:
        """Say what ended the transaction, and abort it where that is left to us."""
        known = _kafka_error(error)
        if known is None or known.code() == FATAL:
            known = self._fatal_error() or known
        if known is not None and known.code() in _FENCED_CODES:
            self._dead = True
            raise ProducerFencedError(self._seconds_open()) from error
        self._dead = known is None or known.fatal()
        reason = self._first_failure or not_committed(self._id, known, error)
        self._void(reason, cause=error)

    def _void(self, reason: ConnectError, *, cause: Exception | None = None) -> NoReturn:
        if not self._dead:
            try:
                self._abort(_Patience(self._draining, self._dropped).check)
            except ConnectError as error:  # a new producer begins anew, so that is what the failure means
                raise ConnectError(f"{reason}. This producer cannot abort its transaction") from error
        raise reason from (reason.__cause__ or cause)

    def _abort(self, check: Callable[[], None]) -> None:
        while True:
            try:
                self._producer.abort_transaction(_CHECK_SECONDS)
            except (KafkaException, SystemError) as error:
                known = _kafka_error(error)
                if known is None or not known.retriable():
                    self._dead = True
                    if known is not None and known.code() in _FENCED_CODES:
                        raise ProducerFencedError(self._seconds_open()) from error
                    raise not_committed(self._id, known, error) from error
                check()
            else:
                self._began = None
                return

    def _seconds_open(self) -> float:
        return 0.0 if self._began is None else time.monotonic() - self._began

    def _fatal_error(self) -> KafkaError | None:
        """Return what ended the client for good: it says so when it is asked to abort."""
        try:
            self._producer.abort_transaction(_CHECK_SECONDS)
        except (KafkaException, SystemError) as error:
            return _kafka_error(error)
        return None


class _Patience:
    """Ends waits for brokers: at once for a task that is dropped, after a while for one that drains."""

    def __init__(self, draining: Callable[[], bool], dropped: Callable[[], bool]) -> None:
        self._draining = draining
        self._dropped = dropped
        self._until: float | None = None
        self._next_look = time.monotonic() + CHECK_INTERVAL_SECONDS

    def is_long(self) -> bool:
        """Return True once for each interval in which it was waited."""
        now = time.monotonic()
        if now < self._next_look:
            return False
        self._next_look = now + CHECK_INTERVAL_SECONDS
        return True

    def look_soon(self) -> None:
        """Have `is_long` return True soon."""
        self._next_look = time.monotonic() + _CREATED_SECONDS

    def check(self) -> None:
        """Raise when it is time to give up.

        Raises:
            DrainedError: The task must end.
        """
        if self._dropped():
            raise DrainedError
        if not self._draining():
            return
        now = time.monotonic()
        self._until = now + _DRAIN_PATIENCE_SECONDS if self._until is None else self._until
        if now >= self._until:
            raise DrainedError


def _kafka_error(error: BaseException) -> KafkaError | None:
    """Return what the client said; a callback that runs in the same call can turn it into a SystemError."""
    if isinstance(error, SystemError) and error.__cause__ is not None:
        return _kafka_error(error.__cause__)
    found = error.args[0] if error.args else None
    return found if isinstance(found, KafkaError) else None
