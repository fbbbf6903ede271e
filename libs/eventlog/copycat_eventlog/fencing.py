"""Fencing: who begins with a transactional id ends what its former producer has open, and bars it for ever.

Java's clients have `Admin.fenceProducers`, librdkafka's have not; the request is the same, InitProducerId.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from enum import Enum, auto
from typing import Final

from confluent_kafka import KafkaError, KafkaException, Producer
from copycat_connect.errors import UnavailableError

from copycat_eventlog.producers import SILENT, end_in_background, kafka_error

#: Ids fenced at a time; each costs a client with its threads and connections.
MAX_CONCURRENT_FENCES = 8
#: One attempt; short, so that a cancelled round ends soon.
ATTEMPT_SECONDS = 2.0
RETRY_DELAY_SECONDS = 0.2
#: Of the producer that fences: it opens no transaction, but brokers refuse what is above their own limit.
TRANSACTION_TIMEOUT_MS = 10_000


class Obstacle(Enum):
    """Why Kafka refuses to fence, as far as that changes what a user does about it."""

    MISSING_RIGHT = auto()
    """The principal may not write with the transactional id."""
    WRONG_LOGIN = auto()
    """The brokers do not let the client in."""
    NO_TRANSACTIONS = auto()
    """The brokers are too old, or allow shorter transactions only."""
    OTHER = auto()
    """Anything else that does not pass."""


class FencingRefusedError(Exception):
    """Kafka refuses to fence a transactional id, and will again."""

    def __init__(self, transactional_id: str, reason: str, obstacle: Obstacle) -> None:
        """`reason` is what Kafka said."""
        super().__init__(f"{transactional_id}: {reason}")
        self.transactional_id = transactional_id
        self.reason = reason
        self.obstacle = obstacle


_OBSTACLES: Final = {
    KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED: Obstacle.MISSING_RIGHT,
    KafkaError.CLUSTER_AUTHORIZATION_FAILED: Obstacle.MISSING_RIGHT,
    KafkaError._AUTHENTICATION: Obstacle.WRONG_LOGIN,
    KafkaError.SASL_AUTHENTICATION_FAILED: Obstacle.WRONG_LOGIN,
    KafkaError.UNSUPPORTED_VERSION: Obstacle.NO_TRANSACTIONS,
    KafkaError._UNSUPPORTED_FEATURE: Obstacle.NO_TRANSACTIONS,
    KafkaError.INVALID_TRANSACTION_TIMEOUT: Obstacle.NO_TRANSACTIONS,
}
#: Another producer began with the id at the same moment: this one is of no use any more, a new one is.
_OVERTAKEN: Final = frozenset({
    KafkaError._FENCED,
    KafkaError.INVALID_PRODUCER_EPOCH,
    KafkaError.PRODUCER_FENCED,
    KafkaError.CONCURRENT_TRANSACTIONS,
})  # fmt: skip


async def fence_producers(
    connection: Mapping[str, str | int | bool],
    transactional_ids: Sequence[str],
    *,
    client_id: str,
    within: float,
) -> None:
    """Fence every former producer of some transactional ids, several at a time.

    Args:
        connection: The connection part of a producer's configuration.
        transactional_ids: The ids.
        client_id: The `client.id` that brokers see.
        within: Seconds for all of them.

    Raises:
        FencingRefusedError: Kafka refuses for good; others of the ids may be fenced.
        UnavailableError: It was not done in time; others of the ids may be fenced.
    """
    if not transactional_ids:
        return
    config = {**connection, "client.id": client_id, "transaction.timeout.ms": TRANSACTION_TIMEOUT_MS}
    deadline, cancelled = time.monotonic() + within, threading.Event()
    loop, workers = asyncio.get_running_loop(), min(MAX_CONCURRENT_FENCES, len(transactional_ids))
    pool = ThreadPoolExecutor(workers, thread_name_prefix="fence")
    try:
        fences = (_Fence(config, each, deadline, cancelled) for each in transactional_ids)
        await asyncio.gather(*(loop.run_in_executor(pool, fence.run) for fence in fences))
    finally:
        cancelled.set()
        pool.shutdown(wait=False, cancel_futures=True)


class _Fence:
    """Fences one transactional id; its call blocks."""

    def __init__(
        self,
        config: Mapping[str, str | int | bool],
        transactional_id: str,
        deadline: float,
        cancelled: threading.Event,
    ) -> None:
        self._config = {
            **config,
            "transactional.id": transactional_id,
            "error_cb": self._note,
        }
        self._id = transactional_id
        self._deadline = deadline
        self._cancelled = cancelled
        self._trouble: KafkaError | None = None

    def run(self) -> None:
        """Begin with the id, again and again until it works."""
        while True:
            holder = [self._producer()]
            failure = self._begin(holder[0])
            # No error that is raised may hold the producer, or it would end where that error is forgotten.
            end_in_background(holder)
            if failure is None:
                return
            if failure.code() not in _OVERTAKEN or not self._may_go_on():
                raise self._error(failure)

    def _producer(self) -> Producer:
        try:
            return Producer(self._config, logger=SILENT)
        except KafkaException as error:  # a setting that cannot be followed, e.g. a file of certificates
            raise FencingRefusedError(self._id, kafka_error(error).str(), Obstacle.OTHER) from None

    def _begin(self, producer: Producer) -> KafkaError | None:
        """Return None when it worked, else an error after which this producer is not to be asked again."""
        while True:
            failure = self._attempt(producer)
            if failure is None or not failure.retriable() or not self._may_go_on():
                return failure

    def _attempt(self, producer: Producer) -> KafkaError | None:
        seconds = max(0.1, min(ATTEMPT_SECONDS, self._deadline - time.monotonic()))
        try:
            producer.init_transactions(seconds)
        # librdkafka raises fatal errors out of any call, at times as SystemError.
        except (KafkaException, SystemError) as error:
            failure = kafka_error(error)
        else:
            return None
        if failure.retriable():
            producer.poll(0)  # serves the callback that knows of a login that failed
            if self._trouble is not None and self._trouble.code() in _OBSTACLES:
                return self._trouble
        return failure

    def _may_go_on(self) -> bool:
        """Wait a little; return whether there is time for another attempt."""
        in_time = time.monotonic() + RETRY_DELAY_SECONDS < self._deadline
        return in_time and not self._cancelled.wait(RETRY_DELAY_SECONDS)

    def _error(self, failure: KafkaError) -> Exception:
        if not failure.retriable() and failure.code() not in _OVERTAKEN:
            obstacle = _OBSTACLES.get(failure.code(), Obstacle.OTHER)
            return FencingRefusedError(self._id, failure.str(), obstacle)
        why = (self._trouble or failure).str()
        message = f"The former producer of the transactional id {self._id} is not fenced yet: {why}"
        return UnavailableError(message)

    def _note(self, error: KafkaError) -> None:
        # "all brokers down" only sums up what was reported before.
        if error.code() != KafkaError._ALL_BROKERS_DOWN:
            self._trouble = error
