"""Delivery exactly once: records and their offsets become visible together, in one transaction (KIP-618)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from copycat_connect.config.framework_names import OFFSETS_TOPIC
from copycat_connect.data.batches import SourceBatch
from copycat_connect.errors import ConnectError
from copycat_connect.plugin.contexts import TransactionContext

from copycat_executor.pipeline.source.source_path import Batch
from copycat_executor.pipeline.source.source_runtime import SourceRuntime
from copycat_executor.pipeline.source.transactions import (
    Boundary,
    ProducerFencedError,
    TransactionalSender,
    TransactionEnd,
    TransactionOffsets,
    TransactionRequests,
    transaction_too_long,
)
from copycat_executor.pipeline.task.control import Settlement
from copycat_executor.pipeline.task.measures import CommitMeter
from copycat_executor.pipeline.task.task_link import until_answered
from copycat_executor.pipeline.task.topic_ledger import TopicCreator

_log = logging.getLogger(__name__)

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
        runtime: SourceRuntime,
        sender: TransactionalSender,
        offsets: TransactionOffsets,
        boundary: Boundary,
    ) -> None:
        self._runtime = runtime
        self._sender = sender
        self._offsets = offsets
        self._boundary = boundary
        self._meter = CommitMeter(runtime.measures)
        self._clock = runtime.clock
        self._requests = TransactionRequests() if boundary.by_connector else None
        self._committed_at = runtime.clock()
        self._tidied_at = 0.0
        self._batch_ended = False
        self._batch_is_partial = False
        self._counted = 0

    @property
    def transaction(self) -> TransactionContext | None:
        """What the task places its boundaries with, where the connector defines them."""
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
        self._until_answered(self._runtime.link.await_fence)
        self._until_answered(self._offsets.prepare)
        self._sender.prepare()
        # A start that was overtaken while it waited has just fenced its successor: it must not go on.
        self._until_answered(self._runtime.link.await_fence)

    def deliver(self, batch: Batch) -> None:
        """Hand a batch to the producer; transactions end within it where the task asks for it."""
        self._batch_is_partial = True  # until its offset is noted as well, a part of it must not be committed
        with self._fence_explained():
            if not self._requests or isinstance(batch, SourceBatch):
                self._runtime.path.deliver(batch)
            else:
                for run, end in self._requests.cut(batch):
                    self._runtime.path.deliver(run)
                    self._end(end)
        self._batch_is_partial, self._batch_ended = False, True

    def commit_if_due(self) -> None:
        """End the transaction where the boundary says."""
        with self._fence_explained():
            if self._requests is not None:
                self._end(self._requests.take_batch_end())
            elif self._boundary.interval is None:
                if self._batch_ended:
                    self._commit()
            elif self._open and self._due_in() <= 0:
                self._commit()
        self._batch_ended = False
        if not self._open:  # also while nothing comes: what was committed last is copied, too
            self._follow_up_if_due()

    def pause(self) -> None:
        """Leave no transaction open while nothing comes."""
        with self._fence_explained():
            self._end_last()

    def wait(self, seconds: float) -> bool:
        """Sleep; a transaction that falls due meanwhile is committed."""
        control, until = self._runtime.control, self._clock() + seconds
        while not control.stopping and (left := until - self._clock()) > 0:
            if self._boundary.interval is None or not self._open or self._batch_is_partial:
                control.wait(left)
            elif (due := self._due_in()) > 0:
                control.wait(min(left, due))
            else:
                with self._fence_explained():
                    self._commit()
        return control.stopping

    def commit_last(self, *, failed: bool) -> None:
        """Commit what is whole, where the boundary allows; after a failure nothing is."""
        if failed or self._batch_is_partial:
            self._sender.abort()
        else:
            self._end_last()
            self._sender.abort()  # what the connector left open
        self._follow_up()

    def settle(self, settlements: Sequence[Settlement]) -> None:
        """Note which copies of offsets were written."""
        for settlement in settlements:
            self._offsets.settle(settlement)

    @property
    def _open(self) -> bool:
        return self._sender.open or self._runtime.commits.pending

    def _due_in(self) -> float:
        return self._committed_at + (self._boundary.interval or 0.0) - self._clock()

    def _end_last(self) -> None:
        if self._requests is None:
            self._commit()
        else:
            self._end(self._requests.take_batch_end())

    def _end(self, end: TransactionEnd | None) -> None:
        match end:
            case TransactionEnd.ABORT if not self._sender.open:
                _log.warning(
                    "The task asked to abort a transaction without records: nothing is to be aborted"
                )
            case TransactionEnd.ABORT:
                self._sender.abort()
                self._runtime.written.forget()
                self._counted = self._runtime.path.delivered
                self._commit()  # its offsets count, or the task would see the same records again
            case TransactionEnd.COMMIT:
                self._commit()

    def _commit(self) -> None:
        """Commit records and offsets; all that is called after it sees them durable (I1)."""
        runtime = self._runtime
        self._meter.begin()
        offsets = runtime.commits.take()
        if self._sender.open or offsets:
            self._settle_letters()
            self._sender.commit(self._offsets.records(offsets))
            self._meter.transaction(runtime.path.delivered - self._counted)
            self._counted = runtime.path.delivered
            self._offsets.note_committed(offsets)
        else:
            self._meter.nothing_new()
        self._committed_at = self._clock()
        runtime.written.report()
        runtime.report_commit()
        self._follow_up_if_due()

    def _settle_letters(self) -> None:
        letters = self._runtime.dead_letters
        if letters is not None and not letters.settle(self._runtime.timing.flush_timeout, self._clock):
            raise ConnectError("Records were not written to the dead letter queue in time")

    def _follow_up_if_due(self) -> None:
        """Follow up a commit, but not after each of many short transactions."""
        if self._clock() - self._tidied_at >= self._runtime.timing.commit_interval:
            self._follow_up()

    def _follow_up(self) -> None:
        self._tidied_at = self._clock()
        self._runtime.topics.report(self._runtime.link)
        self._offsets.copy()
        self._runtime.collect_garbage()

    def _until_answered(self, ask: Callable[[], None]) -> None:
        """Ask until there is an answer: that earlier tasks are fenced, or that the offsets topic is there."""
        runtime = self._runtime
        until_answered(
            ask,
            runtime.calls,
            runtime.control.wait,
            what="fence",
            complaint="This task may not write yet",
        )

    @contextmanager
    def _fence_explained(self) -> Iterator[None]:
        """End quietly when a newer start of the task has fenced this one, and fail otherwise."""
        try:
            yield
        except ProducerFencedError as fenced:
            self._until_answered(self._runtime.link.await_fence)
            if fenced.seconds_open >= self._boundary.timeout:
                raise transaction_too_long(fenced.seconds_open, self._boundary.timeout) from fenced
            raise ConnectError(_FENCED) from fenced


class GuardedTopics:
    """Refuses the connector's own offsets topic, and leaves the rest to another creator (KIP-618)."""

    def __init__(self, offsets_topic: str, creator: TopicCreator | None) -> None:
        self._offsets_topic = offsets_topic
        self._creator = creator

    def ensure(self, topic: str) -> None:
        """Create the topic when it is missing.

        Raises:
            ConnectError: It is the one for offsets, or it is missing and cannot be created.
        """
        if topic == self._offsets_topic:
            raise ConnectError(
                "Source tasks may not produce to their own offsets topics when exactly-once support is "
                f"enabled: change where the connector writes to, now {topic}, or its {OFFSETS_TOPIC}"
            )
        if self._creator is not None:
            self._creator.ensure(topic)
