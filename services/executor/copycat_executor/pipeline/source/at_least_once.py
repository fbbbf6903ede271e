"""Delivery at least once: after a batch its offset waits for the next flush, then it is acknowledged (I1)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Final

from copycat_executor.pipeline.source.path import Batch
from copycat_executor.pipeline.source.source_parts import SourceParts
from copycat_executor.pipeline.task.commit_meter import CommitMeter
from copycat_executor.pipeline.task.control import Settlement
from copycat_executor.pipeline.task.schedule import CommitSchedule
from copycat_executor.pipeline.task.timing import Timing

_log = logging.getLogger(__name__)

#: A flush looks this often whether its time is over or the task must end.
_FLUSH_CHECK_SECONDS: Final = 0.15


class AtLeastOnce:
    """Hands batches over as they come, and flushes before offsets are acknowledged (`SourceDelivery`)."""

    def __init__(
        self,
        parts: SourceParts,
        timing: Timing,
        meter: CommitMeter,
        clock: Callable[[], float],
        tidy: Callable[[], None],
    ) -> None:
        """Compose; `tidy` collects garbage and is called after commits, where a pause does no harm."""
        self._parts = parts
        self._timing = timing
        self._meter = meter
        self._clock = clock
        self._tidy = tidy
        self._schedule = CommitSchedule(timing.commit_interval, clock())
        self._behind = False

    @property
    def transaction(self) -> None:
        """There are no transactions."""

    @property
    def behind(self) -> bool:
        """True after a flush that took too long: it goes on before the next poll, or it might never end."""
        return self._behind

    @property
    def unsettled(self) -> bool:
        """True while the fate of an acknowledgement is open."""
        return self._parts.commits.unsettled

    def prepare(self) -> None:
        """Nothing is to be prepared."""

    def deliver(self, batch: Batch) -> None:
        """Hand a batch to the producer."""
        began = self._clock()
        self._parts.path.deliver(batch)
        self._schedule.note_data(began)

    def pause(self) -> None:
        """Go on committing while the task is paused."""

    def commit_if_due(self) -> None:
        """Make what was delivered durable and acknowledge it, when it is time for that.

        The task hears of the commit even if nothing is new.
        """
        self._parts.written.report()
        if not self._behind and self._schedule.due_in(self._clock()) > 0:
            return
        if not self._acknowledge() and not self._parts.commits.unsettled:
            self._parts.report_commit()
        self._schedule.done(self._clock())
        self._tidy()

    def commit_last(self, *, failed: bool) -> None:
        """Make durable what can still be, and acknowledge it, also what was delivered before a failure."""
        del failed
        self._acknowledge()
        self._parts.written.report()

    def wait(self, seconds: float) -> bool:
        """Sleep until the time is over or the task must end; commits that fall due meanwhile are made."""
        control, clock = self._parts.control, self._clock
        until = clock() + seconds
        while not control.stopping and (left := until - clock()) > 0:
            if not self._parts.commits.pending:
                control.wait(left)
            elif (due := self._schedule.due_in(clock())) > 0:
                control.wait(min(left, due))
            else:
                self._acknowledge()
                self._schedule.done(clock())
        return control.stopping

    def settle(self, settlements: Sequence[Settlement]) -> None:
        """Take note of the fate of acknowledgements; the task hears when offsets were committed."""
        committed = False
        for settlement in settlements:
            self._meter.settled(settlement.sequence, settlement.error)
            committed |= self._parts.commits.settle(settlement)
        if committed:
            self._parts.report_commit()

    def _acknowledge(self) -> bool:
        """Flush and acknowledge; False when there is nothing new."""
        parts = self._parts
        self._meter.begin()
        if not parts.commits.pending:
            self._meter.nothing_new()
            return False
        self._behind = not self._flush()
        if self._behind:
            self._meter.failed()
            why = parts.calls.obstacle() or "Kafka has not confirmed all records yet"
            parts.calls.failed("flush", f"{why}. Polling waits for it")
            _log.warning("Records are not durable yet, polling waits for Kafka")
            return True
        parts.calls.worked("flush")
        if parts.failures:
            return True  # I1: one of the records is lost, so no offset after it may be committed
        parts.topics.report(parts.link)
        self._meter.acknowledged(parts.commits.acknowledge())
        return True

    def _flush(self) -> bool:
        control, was_stopping = self._parts.control, self._parts.control.stopping
        timing = self._timing
        until = self._clock() + (timing.last_commit if was_stopping else timing.flush_timeout)
        while not self._parts.sender.flush(_FLUSH_CHECK_SECONDS):
            if self._clock() >= until or control.dropped or control.stopping is not was_stopping:
                return False
        letters = self._parts.dead_letters
        return letters is None or letters.settle(self._timing.flush_timeout, self._clock)
