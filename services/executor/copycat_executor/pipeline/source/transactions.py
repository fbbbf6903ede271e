"""Transactions of a source task (KIP-618): the producer that has them, where they end, and their offsets."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from copycat_connect.cluster import source_offset_key
from copycat_connect.config.framework_names import TRANSACTION_BOUNDARY, TRANSACTION_INTERVAL
from copycat_connect.config.setting import ConfigSetting
from copycat_connect.data.records import SourceRecord
from copycat_connect.errors import ConfigError, ConnectError

from copycat_executor.pipeline.records.sender import OutgoingRecord, RecordSender
from copycat_executor.pipeline.task.control import Settlement
from copycat_executor.pipeline.task.task_link import TaskLink

_log = logging.getLogger(__name__)

Offsets = Mapping[bytes, bytes | None]


class ProducerFencedError(Exception):
    """The brokers refuse this producer for good: another one has its transactional id.

    They answer the same when a transaction was open for too long; `seconds_open` is how long it was.
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
    """Return the error for a transaction that the brokers gave up because it was open for too long."""
    return ConnectError(
        f"The brokers gave up a transaction that was open for {seconds:.1f} s, longer than "
        f"transaction.timeout.ms={timeout * 1000:.0f} allows; nothing of it counts and it is repeated after "
        "a restart. Commit earlier (transaction.boundary=poll, a shorter transaction.boundary.interval.ms, "
        "smaller batches of the connector), or raise producer.override.transaction.timeout.ms, and restart "
        "the task"
    )


@dataclass(frozen=True, slots=True)
class Boundary:
    """Where transactions end (`transaction.boundary`): after each poll, unless one of the others is set."""

    timeout: float
    """How long the brokers let a transaction be open (`transaction.timeout.ms`), seconds."""
    interval: float | None = None
    """Seconds between two commits; None unless the boundary is an interval."""
    by_connector: bool = False
    """Whether only the task places the boundaries."""

    @classmethod
    def of(cls, settings: Mapping[str, ConfigSetting], interval: float, timeout: float) -> Boundary:
        """Read it from a source connector's settings; `interval` is the default (`offset.flush.interval.ms`).

        Raises:
            ConfigError: The interval is as long as brokers let a transaction be open, or longer.
        """
        match str(settings[TRANSACTION_BOUNDARY]).lower():
            case "connector":
                return cls(timeout, by_connector=True)
            case "interval":
                chosen = settings[TRANSACTION_INTERVAL]
                seconds = interval if chosen is None else chosen / 1000
                if seconds >= timeout:
                    raise ConfigError(_too_long(seconds, timeout), key=TRANSACTION_INTERVAL)
                return cls(timeout, interval=seconds)
            case _:
                return cls(timeout)


def _too_long(interval: float, timeout: float) -> str:
    return (
        f"Invalid value {interval * 1000:.0f} for configuration {TRANSACTION_INTERVAL}: the brokers give up "
        f"a transaction that is open for transaction.timeout.ms={timeout * 1000:.0f}. Shorten the interval "
        "(by default it is offset.flush.interval.ms), or raise producer.override.transaction.timeout.ms"
    )


class TransactionEnd(Enum):
    """How a transaction is to end."""

    COMMIT = "commit"
    ABORT = "abort"


class TransactionRequests:
    """What a task asked for (`TransactionContext`), until it is carried out."""

    def __init__(self) -> None:
        self._after_batch: set[TransactionEnd] = set()
        # By identity: records may be equal. The record is kept, or another could get its identity.
        self._after_record: dict[int, tuple[SourceRecord, set[TransactionEnd]]] = {}

    def commit_transaction(self, record: SourceRecord | None = None) -> None:
        """Commit after the record, or after the next batch when none is given."""
        self._add(record, TransactionEnd.COMMIT)

    def abort_transaction(self, record: SourceRecord | None = None) -> None:
        """Abort with the record as the last, or after the next batch when none is given."""
        self._add(record, TransactionEnd.ABORT)

    def take_batch_end(self) -> TransactionEnd | None:
        """Return what is asked for after a batch, once.

        Raises:
            ConnectError: Both, to commit and to abort.
        """
        wanted, self._after_batch = self._after_batch, set()
        return _one_of(wanted, "the same batch")

    def cut(
        self, records: Sequence[SourceRecord]
    ) -> Iterator[tuple[Sequence[SourceRecord], TransactionEnd | None]]:
        """Yield the records in runs, each with what is to happen after it.

        Raises:
            ConnectError: The task asked to commit and to abort after the same record.
        """
        start = 0
        for place, record in enumerate(records, 1):
            asked = self._after_record.pop(id(record), None)
            if asked is not None:
                yield records[start:place], _one_of(asked[1], "the same record")
                start = place
        if start < len(records):
            yield records[start:], None

    def __bool__(self) -> bool:
        """Whether something is asked for after single records."""
        return bool(self._after_record)

    def _add(self, record: SourceRecord | None, end: TransactionEnd) -> None:
        if record is None:
            self._after_batch.add(end)
        else:
            self._after_record.setdefault(id(record), (record, set()))[1].add(end)


def _one_of(wanted: set[TransactionEnd], what: str) -> TransactionEnd | None:
    if len(wanted) > 1:
        raise ConnectError(
            f"The connector asked to commit and to abort the transaction after {what}: ask for one"
        )
    return next(iter(wanted), None)


class TransactionOffsets:
    """Where a source task writes its offsets itself.

    What is in a topic of the connector's own is copied into the worker's topic now and then, where it is of
    use when exactly-once delivery or the own topic is given up; a failed copy is no failure (KIP-618).
    """

    def __init__(self, connector: str, topic: str, link: TaskLink, *, copied: bool) -> None:
        """`topic` is where the offsets belong; `copied` when that is not the worker's offsets topic."""
        self._connector = connector
        self._topic = topic
        self._link = link
        self._copied = copied
        self._uncopied: dict[bytes, bytes | None] = {}
        self._under_way: set[int] = set()
        self._sequence = 0

    @property
    def unsettled(self) -> bool:
        """True while copies are on their way."""
        return bool(self._under_way)

    def prepare(self) -> None:
        """Make sure that a topic of the connector's own is there: who reads it creates it."""
        if self._copied:
            self._link.source_offsets([])

    def records(self, offsets: Offsets) -> list[OutgoingRecord]:
        """Return the records that state offsets, by Kafka Connect's keys."""
        return [
            OutgoingRecord(self._topic, offset, source_offset_key(self._connector, partition))
            for partition, offset in offsets.items()
        ]

    def note_committed(self, offsets: Offsets) -> None:
        """Note that the transaction with these offsets was committed."""
        if self._copied:
            self._uncopied.update(offsets)

    def copy(self) -> None:
        """Copy what was committed since the last copy."""
        if not self._uncopied:
            return
        copies, self._uncopied = self._uncopied, {}
        self._sequence += 1
        self._under_way.add(self._sequence)
        self._link.acknowledge_source(self._sequence, copies)

    def settle(self, settlement: Settlement) -> None:
        """Note whether a copy was written."""
        self._under_way.discard(settlement.sequence)
        if settlement.error:
            _log.warning("Offsets were not copied to the worker's offsets topic: %s", settlement.error)
