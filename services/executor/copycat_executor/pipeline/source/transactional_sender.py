"""The port to a producer with transactions, and how one ends that it does not end itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from copycat_connect.errors import ConnectError

from copycat_executor.pipeline.records.sender import OutgoingRecord, RecordSender


class ProducerFencedError(Exception):
    """The brokers take nothing from this producer any more: another one has its transactional id.

    They answer the same when a transaction was open for too long; `seconds_open` says for how long it was.
    """

    def __init__(self, seconds_open: float) -> None:
        super().__init__("fenced")
        self.seconds_open = seconds_open


class TransactionalSender(RecordSender, Protocol):
    """Writes records in transactions, each begun by its first record; called by one thread only."""

    @property
    def open(self) -> bool:
        """Whether records were handed over since the last commit or abort."""

    def prepare(self) -> None:
        """Fence the producer that had this transactional id before, and end its transaction; blocks.

        Raises:
            ConnectError: The brokers refuse; the text says why and what to do.
            DrainedError: The task must end.
        """

    def commit(self, offsets: Sequence[OutgoingRecord]) -> None:
        """Write the records that state offsets, then make the transaction durable and visible; blocks.

        Raises:
            ConnectError: A record cannot be written: the transaction was aborted.
            ProducerFencedError: Another producer took over: the transaction was aborted by it.
            DrainedError: The task must end, and the brokers do not answer.
        """

    def abort(self) -> None:
        """Make everything of the transaction void; blocks. Does nothing when none is open.

        Raises:
            ConnectError: The brokers refuse.
            ProducerFencedError: Another producer took over.
            DrainedError: The task must end, and the brokers do not answer.
        """


def transaction_too_long(seconds: float, timeout: float) -> ConnectError:
    """Say that the brokers gave up a transaction of so many seconds, and what to do."""
    message = (
        f"The brokers gave up a transaction that was open for {seconds:.1f} s, longer than "
        f"transaction.timeout.ms={timeout * 1000:.0f} allows; nothing of it counts and it is repeated after "
        "a restart. Commit earlier (transaction.boundary=poll, a shorter transaction.boundary.interval.ms, "
        "smaller batches of the connector), or raise producer.override.transaction.timeout.ms, and restart "
        "the task"
    )
    return ConnectError(message)
