"""Delivery at most once: the offset of a batch is committed before any of its records is sent (KIP-26)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from copycat_connect.data.batches import SourceBatch
from copycat_connect.plugin.contexts import SourceOffset, SourcePartition

from copycat_executor.pipeline.source.path import Batch
from copycat_executor.pipeline.source.progress import SourceProgress
from copycat_executor.pipeline.source.source_parts import SourceParts
from copycat_executor.pipeline.task.commit_meter import CommitMeter
from copycat_executor.pipeline.task.control import Settlement
from copycat_executor.pipeline.task.stages import DrainedError, StaleTaskError
from copycat_executor.pipeline.task.timing import Timing

#: A batch whose offset is being committed looks this often whether the task must end without it.
_SETTLEMENT_CHECK_SECONDS: Final = 0.5
_FLUSH_CHECK_SECONDS: Final = 0.15


class AtMostOnce:
    """Waits until the offset service has a batch's offset, then sends the batch once (`SourceDelivery`).

    A task that is told to end still sends the batch whose offset is committed; one that is killed loses it.
    """

    def __init__(
        self,
        parts: SourceParts,
        progress: SourceProgress,
        timing: Timing,
        meter: CommitMeter,
        *,
        clock: Callable[[], float],
        tidy: Callable[[], None],
    ) -> None:
        """Compose; `progress` is what `parts.commits` acknowledges, and which nothing else moves."""
        self._parts = parts
        self._progress = progress
        self._timing = timing
        self._meter = meter
        self._clock = clock
        self._tidy = tidy
        self._tidied_at = clock()

    @property
    def transaction(self) -> None:
        """There are no transactions."""

    @property
    def behind(self) -> bool:
        """Never: the producer's queue is what holds the task back."""
        return False

    @property
    def unsettled(self) -> bool:
        """True while the fate of an acknowledgement is open."""
        return self._parts.commits.unsettled

    def prepare(self) -> None:
        """Nothing is to be prepared."""

    def deliver(self, batch: Batch) -> None:
        """Commit a batch's offsets, then hand it to the producer.

        Raises:
            StaleTaskError: A newer generation of the task exists: it owns the batch.
        """
        for partition, offset in _offsets(batch):
            self._progress.advance(partition, offset)
        self._commit()
        self._parts.path.deliver(batch)

    def commit_if_due(self) -> None:
        """Report what was seen, now and then: offsets are committed already."""
        self._parts.written.report()
        if self._clock() - self._tidied_at >= self._timing.commit_interval:
            self._keep_house()

    def pause(self) -> None:
        """Nothing waits to be committed."""

    def wait(self, seconds: float) -> bool:
        """Sleep until the time is over or the task must end."""
        return self._parts.control.wait(seconds)

    def commit_last(self, *, failed: bool) -> None:
        """Let what was handed over reach Kafka."""
        del failed
        until = self._clock() + self._timing.last_commit
        while not self._parts.sender.flush(_FLUSH_CHECK_SECONDS):
            if self._clock() >= until or self._parts.control.dropped:
                break
        letters = self._parts.dead_letters
        if letters is not None:
            letters.settle(self._timing.flush_timeout, self._clock)
        self._parts.written.report()
        self._keep_house()

    def settle(self, settlements: Sequence[Settlement]) -> None:
        """Take note of the fate of acknowledgements; what is refused is acknowledged again."""
        for settlement in settlements:
            self._meter.settled(settlement.sequence, settlement.error)
            self._parts.commits.settle(settlement)

    def _commit(self) -> None:
        """Commit what is new and wait for it, also while the task is told to end: nothing is lost by that."""
        control, commits = self._parts.control, self._parts.commits
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
        self._parts.report_commit()

    def _keep_house(self) -> None:
        self._tidied_at = self._clock()
        self._parts.topics.report(self._parts.link)
        self._tidy()


def _offsets(batch: Batch) -> Iterator[tuple[SourcePartition | None, SourceOffset | None]]:
    """Yield where a batch ends in each of its source partitions, oldest first."""
    if isinstance(batch, SourceBatch) and batch.offsets is None:
        yield batch.source_partition, batch.source_offset
        return
    for record in batch:
        yield record.source_partition, record.source_offset
