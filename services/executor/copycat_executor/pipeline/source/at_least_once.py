"""Delivery at least once: after a batch its offset waits for the next flush, then it is acknowledged (I1)."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Final

from copycat_executor.pipeline.source.source_path import Batch
from copycat_executor.pipeline.source.source_runtime import SourceRuntime
from copycat_executor.pipeline.task.control import Settlement
from copycat_executor.pipeline.task.measures import CommitMeter
from copycat_executor.pipeline.task.timing import CommitSchedule

_log = logging.getLogger(__name__)

#: A flush looks this often whether its time is over or the task must end.
_FLUSH_CHECK_SECONDS: Final = 0.15


class AtLeastOnce:
    """Hands batches over as they come, and flushes before offsets are acknowledged (`SourceDelivery`)."""

    def __init__(self, runtime: SourceRuntime) -> None:
        self._runtime = runtime
        self._meter = CommitMeter(runtime.measures)
        self._clock = runtime.clock
        self._schedule = CommitSchedule(runtime.timing.commit_interval, runtime.clock())
        self._behind = False

    @property
    def transaction(self) -> None:
        """None: there are no transactions."""

    @property
    def behind(self) -> bool:
        """True after a flush that took too long: it goes on before the next poll, or it might never end."""
        return self._behind

    @property
    def unsettled(self) -> bool:
        """True while an acknowledgement has no answer."""
        return self._runtime.commits.unsettled

    def prepare(self) -> None:
        """Do nothing: no preparation is needed."""

    def deliver(self, batch: Batch) -> None:
        """Hand a batch to the producer."""
        began = self._clock()
        self._runtime.path.deliver(batch)
        self._schedule.note_data(began)

    def pause(self) -> None:
        """Go on committing while the task is paused."""

    def commit_if_due(self) -> None:
        """Make what was delivered durable and acknowledge it, when it is time for that.

        `commit` of the task is called even if nothing is new.
        """
        self._runtime.written.report()
        if not self._behind and self._schedule.due_in(self._clock()) > 0:
            return
        if not self._acknowledge() and not self._runtime.commits.unsettled:
            self._runtime.report_commit()
        self._schedule.done(self._clock())
        self._runtime.collect_garbage()

    def commit_last(self, *, failed: bool) -> None:
        """Make durable what can still be, and acknowledge it, also what was delivered before a failure."""
        del failed
        self._acknowledge()
        self._runtime.written.report()

    def wait(self, seconds: float) -> bool:
        """Sleep until the time is over or the task must end; commits that fall due meanwhile are made."""
        control, clock = self._runtime.control, self._clock
        until = clock() + seconds
        while not control.stopping and (left := until - clock()) > 0:
            if not self._runtime.commits.pending:
                control.wait(left)
            elif (due := self._schedule.due_in(clock())) > 0:
                control.wait(min(left, due))
            else:
                self._acknowledge()
                self._schedule.done(clock())
        return control.stopping

    def settle(self, settlements: Sequence[Settlement]) -> None:
        """Note the answers to acknowledgements; call the task's `commit` when offsets were committed."""
        committed = False
        for settlement in settlements:
            self._meter.settled(settlement.sequence, settlement.error)
            committed |= self._runtime.commits.settle(settlement)
        if committed:
            self._runtime.report_commit()

    def _acknowledge(self) -> bool:
        """Flush and acknowledge; False when there is nothing new."""
        runtime = self._runtime
        self._meter.begin()
        if not runtime.commits.pending:
            self._meter.nothing_new()
            return False
        self._behind = not self._flush()
        if self._behind:
            self._meter.failed()
            why = runtime.calls.obstacle() or "Kafka has not confirmed all records yet"
            runtime.calls.failed("flush", f"{why}. Polling waits for it")
            _log.warning("Records are not durable yet, polling waits for Kafka")
            return True
        runtime.calls.worked("flush")
        if runtime.failures:
            return True  # I1: one of the records is lost, so no offset after it may be committed
        runtime.topics.report(runtime.link)
        self._meter.acknowledged(runtime.commits.acknowledge())
        return True

    def _flush(self) -> bool:
        control, was_stopping = self._runtime.control, self._runtime.control.stopping
        timing = self._runtime.timing
        until = self._clock() + (timing.last_commit if was_stopping else timing.flush_timeout)
        while not self._runtime.sender.flush(_FLUSH_CHECK_SECONDS):
            if self._clock() >= until or control.dropped or control.stopping is not was_stopping:
                return False
        letters = self._runtime.dead_letters
        return letters is None or letters.settle(timing.flush_timeout, self._clock)
