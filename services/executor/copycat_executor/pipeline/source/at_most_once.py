"""Delivery at most once: the offset of a batch is committed before any of its records is sent (KIP-26)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from copycat_connect.data.batches import SourceBatch
from copycat_connect.plugin.contexts import SourceOffset, SourcePartition

from copycat_executor.pipeline.source.source_path import Batch
from copycat_executor.pipeline.source.source_runtime import SourceRuntime
from copycat_executor.pipeline.task.control import Settlement
from copycat_executor.pipeline.task.measures import CommitMeter
from copycat_executor.pipeline.task.stages import DrainedError, StaleTaskError

#: A batch whose offset is being committed looks this often whether the task must end without it.
_SETTLEMENT_CHECK_SECONDS: Final = 0.5
_FLUSH_CHECK_SECONDS: Final = 0.15


class AtMostOnce:
    """Waits until the offset service has a batch's offset, then sends the batch once (`SourceDelivery`).

    A task that is stopped still sends the batch whose offset is committed; one that is killed loses it.
    """

    def __init__(self, runtime: SourceRuntime) -> None:
        """Use a runtime whose `commits` nothing else advances: its path does not track offsets."""
        self._runtime = runtime
        self._meter = CommitMeter(runtime.measures)
        self._clock = runtime.clock
        self._followed_up_at = runtime.clock()

    @property
    def transaction(self) -> None:
        """None: there are no transactions."""

    @property
    def behind(self) -> bool:
        """Never: the producer's queue is what holds the task back."""
        return False

    @property
    def unsettled(self) -> bool:
        """True while an acknowledgement has no answer."""
        return self._runtime.commits.unsettled

    def prepare(self) -> None:
        """Do nothing: no preparation is needed."""

    def deliver(self, batch: Batch) -> None:
        """Commit a batch's offsets, then hand it to the producer.

        Raises:
            StaleTaskError: A newer generation of the task exists: it owns the batch.
        """
        for partition, offset in _offsets(batch):
            self._runtime.commits.advance(partition, offset)
        self._commit()
        self._runtime.path.deliver(batch)

    def commit_if_due(self) -> None:
        """Report what was seen, now and then: offsets are committed already."""
        self._runtime.written.report()
        if self._clock() - self._followed_up_at >= self._runtime.timing.commit_interval:
            self._follow_up()

    def pause(self) -> None:
        """Do nothing: nothing waits to be committed."""

    def wait(self, seconds: float) -> bool:
        """Sleep until the time is over or the task must end."""
        return self._runtime.control.wait(seconds)

    def commit_last(self, *, failed: bool) -> None:
        """Let what was handed over reach Kafka."""
        del failed
        until = self._clock() + self._runtime.timing.last_commit
        while not self._runtime.sender.flush(_FLUSH_CHECK_SECONDS):
            if self._clock() >= until or self._runtime.control.dropped:
                break
        letters = self._runtime.dead_letters
        if letters is not None:
            letters.settle(self._runtime.timing.flush_timeout, self._clock)
        self._runtime.written.report()
        self._follow_up()

    def settle(self, settlements: Sequence[Settlement]) -> None:
        """Note the answers to acknowledgements; what is refused is acknowledged again."""
        for settlement in settlements:
            self._meter.settled(settlement.sequence, settlement.error)
            self._runtime.commits.settle(settlement)

    def _commit(self) -> None:
        """Commit what is new and wait for it, also while the task is stopping: nothing is lost by that."""
        control, commits = self._runtime.control, self._runtime.commits
        while commits.pending or commits.unsettled:
            if commits.pending:
                self._meter.begin()
                self._meter.acknowledged(commits.acknowledge())
            control.wait_for_news(_SETTLEMENT_CHECK_SECONDS)
            settlements = control.take_settlements()
            if any(settlement.stale for settlement in settlements):
                raise StaleTaskError
            self.settle(settlements)
            if control.dropped:
                raise DrainedError
        self._runtime.report_commit()

    def _follow_up(self) -> None:
        self._followed_up_at = self._clock()
        self._runtime.topics.report(self._runtime.link)
        self._runtime.collect_garbage()


def _offsets(batch: Batch) -> Iterator[tuple[SourcePartition | None, SourceOffset | None]]:
    """Yield where a batch ends in each of its source partitions, oldest first."""
    if isinstance(batch, SourceBatch) and batch.offsets is None:
        yield batch.source_partition, batch.source_offset
        return
    for record in batch:
        yield record.source_partition, record.source_offset
