"""Delivery exactly once: records and their offsets become visible together, in one transaction (KIP-618)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import Enum
from typing import Final

from copycat_connect.data.batches import SourceBatch
from copycat_connect.data.records import SourceRecord
from copycat_connect.errors import ConnectError, RetriableError
from copycat_connect.plugin.contexts import TransactionContext

from copycat_executor.pipeline.source.path import Batch
from copycat_executor.pipeline.source.source_parts import SourceParts
from copycat_executor.pipeline.source.transaction_boundaries import Boundary
from copycat_executor.pipeline.source.transaction_offsets import TransactionOffsets
from copycat_executor.pipeline.source.transactional_sender import (
    ProducerFencedError,
    TransactionalSender,
    transaction_too_long,
)
from copycat_executor.pipeline.task.commit_meter import CommitMeter
from copycat_executor.pipeline.task.control import Settlement
from copycat_executor.pipeline.task.stages import DrainedError
from copycat_executor.pipeline.task.timing import Timing


class _TransactionEnd(Enum):
    """How a transaction is to end."""

    COMMIT = "commit"
    ABORT = "abort"


class _TransactionRequests:
    """What a task asked for (`TransactionContext`), until it is carried out."""

    def __init__(self) -> None:
        self._after_batch: set[_TransactionEnd] = set()
        # By identity: records may be equal. The record is kept, or another could get its identity.
        self._after_record: dict[int, tuple[SourceRecord, set[_TransactionEnd]]] = {}

    def commit_transaction(self, record: SourceRecord | None = None) -> None:
        """Commit after the record, or after the next batch when none is given."""
        self._add(record, _TransactionEnd.COMMIT)

    def abort_transaction(self, record: SourceRecord | None = None) -> None:
        """Abort with the record as the last, or after the next batch when none is given."""
        self._add(record, _TransactionEnd.ABORT)

    def take_batch_end(self) -> _TransactionEnd | None:
        """Return what is asked for after a batch, once.

        Raises:
            ConnectError: Both, to commit and to abort.
        """
        wanted, self._after_batch = self._after_batch, set()
        return _one_of(wanted, "the same batch")

    def cut(
        self, records: Sequence[SourceRecord]
    ) -> Iterator[tuple[Sequence[SourceRecord], _TransactionEnd | None]]:
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

    def _add(self, record: SourceRecord | None, end: _TransactionEnd) -> None:
        if record is None:
            self._after_batch.add(end)
        else:
            self._after_record.setdefault(id(record), (record, set()))[1].add(end)


def _one_of(wanted: set[_TransactionEnd], what: str) -> _TransactionEnd | None:
    if len(wanted) > 1:
        message = f"The connector asked to commit and to abort the transaction after {what}: ask for one"
        raise ConnectError(message)
    return next(iter(wanted), None)


_log = logging.getLogger(__name__)

#: Between two questions whether this task may write, while a service is away.
_QUESTION_RETRY_DELAY_SECONDS: Final = 1.0
_FENCED: Final = (
    "Another producer with the transactional id of this task took over, and it is no newer start of the "
    "task: somebody else writes under it, e.g. a second cluster with the same group.id. End it, and restart "
    "the task"
)


class ExactlyOnce:
    """Ends transactions where the boundary says, each with the offsets of its records (`SourceDelivery`).

    I2 is upheld by the brokers: a newer start of the task fences the producer of this one, which can commit
    nothing from then on.
    """

    def __init__(
        self,
        parts: SourceParts,
        sender: TransactionalSender,
        offsets: TransactionOffsets,
        *,
        boundary: Boundary,
        timing: Timing,
        meter: CommitMeter,
        clock: Callable[[], float],
        tidy: Callable[[], None],
    ) -> None:
        """Compose; `tidy` collects garbage and is called now and then after a commit."""
        self._parts = parts
        self._sender = sender
        self._offsets = offsets
        self._boundary = boundary
        self._timing = timing
        self._meter = meter
        self._clock = clock
        self._tidy = tidy
        self._requests = _TransactionRequests() if boundary.by_connector else None
        self._committed_at = clock()
        self._tidied_at = 0.0
        self._batch_ended = False
        self._torn = False
        self._counted = 0

    @property
    def transaction(self) -> TransactionContext | None:
        """What the task places its boundaries with, where it is to."""
        return self._requests

    @property
    def behind(self) -> bool:
        """Never: a commit waits until all is durable."""
        return False

    @property
    def unsettled(self) -> bool:
        """True while copies of offsets are on their way."""
        return self._offsets.unsettled

    def prepare(self) -> None:
        """Fence all that wrote for this connector before; only then the offsets are the last ones."""
        self._until_answered(self._parts.link.await_fence)
        self._until_answered(self._offsets.prepare)
        self._sender.prepare()
        # A start that was overtaken while it waited has just fenced its successor: it must not go on.
        self._until_answered(self._parts.link.await_fence)

    def deliver(self, batch: Batch) -> None:
        """Hand a batch to the producer; transactions end within it where the task asks for it."""
        self._torn = True  # until its offset is noted as well, a part of it must not be committed
        with self._explained():
            if not self._requests or isinstance(batch, SourceBatch):
                self._parts.path.deliver(batch)
            else:
                for run, end in self._requests.cut(batch):
                    self._parts.path.deliver(run)
                    self._end(end)
        self._torn, self._batch_ended = False, True

    def commit_if_due(self) -> None:
        """End the transaction where the boundary says."""
        with self._explained():
            if self._requests is not None:
                self._end(self._requests.take_batch_end())
            elif self._boundary.interval is None:
                if self._batch_ended:
                    self._commit()
            elif self._open and self._due_in() <= 0:
                self._commit()
        self._batch_ended = False
        if not self._open:  # also while nothing comes: what was committed last is copied, too
            self._keep_house_if_due()

    def pause(self) -> None:
        """Leave no transaction open while nothing comes."""
        with self._explained():
            self._end_last()

    def wait(self, seconds: float) -> bool:
        """Sleep; a transaction that falls due meanwhile is committed."""
        control, until = self._parts.control, self._clock() + seconds
        while not control.stopping and (left := until - self._clock()) > 0:
            if self._boundary.interval is None or not self._open or self._torn:
                control.wait(left)
            elif (due := self._due_in()) > 0:
                control.wait(min(left, due))
            else:
                with self._explained():
                    self._commit()
        return control.stopping

    def commit_last(self, *, failed: bool) -> None:
        """Commit what is whole, where the boundary allows; after a failure nothing is."""
        if failed or self._torn:
            self._sender.abort()
        else:
            self._end_last()
            self._sender.abort()  # what the connector left open
        self._keep_house()

    def settle(self, settlements: Sequence[Settlement]) -> None:
        """Take note of the fate of copied offsets."""
        for settlement in settlements:
            self._offsets.settle(settlement)

    @property
    def _open(self) -> bool:
        return self._sender.open or self._parts.commits.pending

    def _due_in(self) -> float:
        return self._committed_at + (self._boundary.interval or 0.0) - self._clock()

    def _end_last(self) -> None:
        if self._requests is None:
            self._commit()
        else:
            self._end(self._requests.take_batch_end())

    def _end(self, end: _TransactionEnd | None) -> None:
        match end:
            case _TransactionEnd.ABORT if not self._sender.open:
                _log.warning(
                    "The task asked to abort a transaction without records: nothing is to be aborted"
                )
            case _TransactionEnd.ABORT:
                self._sender.abort()
                self._parts.written.forget()
                self._counted = self._parts.path.delivered
                self._commit()  # its offsets count, or the task would see the same records again
            case _TransactionEnd.COMMIT:
                self._commit()

    def _commit(self) -> None:
        """Commit records and offsets; all that is called after it sees them durable (I1)."""
        parts = self._parts
        self._meter.begin()
        offsets = parts.commits.take()
        if self._sender.open or offsets:
            self._settle_letters()
            self._sender.commit(self._offsets.records(offsets))
            self._meter.transaction(parts.path.delivered - self._counted)
            self._counted = parts.path.delivered
            self._offsets.committed(offsets)
        else:
            self._meter.nothing_new()
        self._committed_at = self._clock()
        parts.written.report()
        parts.report_commit()
        self._keep_house_if_due()

    def _settle_letters(self) -> None:
        letters = self._parts.dead_letters
        if letters is not None and not letters.settle(self._timing.flush_timeout, self._clock):
            raise ConnectError("Records were not written to the dead letter queue in time")

    def _keep_house_if_due(self) -> None:
        """Do what need not follow each of many short transactions."""
        if self._clock() - self._tidied_at >= self._timing.commit_interval:
            self._keep_house()

    def _keep_house(self) -> None:
        self._tidied_at = self._clock()
        self._parts.topics.report(self._parts.link)
        self._offsets.copy()
        self._tidy()

    def _until_answered(self, ask: Callable[[], None]) -> None:
        """Ask until there is an answer: that earlier tasks are fenced, or that the offsets topic is there."""
        while True:
            try:
                ask()
            except RetriableError as error:
                self._parts.calls.failed("fence", error)
                _log.warning("This task may not write yet, asking again: %s", error)
            else:
                self._parts.calls.worked("fence")
                return
            if self._parts.control.wait(_QUESTION_RETRY_DELAY_SECONDS):
                raise DrainedError

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn a fence into the end it means: quiet when a newer start took over, a failure otherwise."""
        try:
            yield
        except ProducerFencedError as fenced:
            self._until_answered(self._parts.link.await_fence)
            if fenced.seconds_open >= self._boundary.timeout:
                raise transaction_too_long(fenced.seconds_open, self._boundary.timeout) from fenced
            raise ConnectError(_FENCED) from fenced
