"""Commits of a sink task: the task flushes, then what it says is durable is acknowledged (I1)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence

from copycat_connect.cluster import TopicPartition

from copycat_executor.pipeline.records.receiver import KafkaMessage
from copycat_executor.pipeline.sink.positions import Offsets, SinkPositions
from copycat_executor.pipeline.sink.sink_parts import SinkParts
from copycat_executor.pipeline.task.commit_meter import CommitMeter
from copycat_executor.pipeline.task.control import Settlement
from copycat_executor.pipeline.task.schedule import CommitSchedule
from copycat_executor.pipeline.task.stages import Stage, failing
from copycat_executor.pipeline.task.timing import Timing

_log = logging.getLogger(__name__)


class SinkFlushing:
    """Knows how far a sink task got and when to commit that."""

    def __init__(
        self,
        parts: SinkParts,
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
        self._positions = SinkPositions({})
        self.schedule = CommitSchedule(timing.commit_interval, clock())

    @property
    def committed(self) -> dict[TopicPartition, int]:
        """Where the task would begin after a crash."""
        return self._positions.committed

    @property
    def unsettled(self) -> bool:
        """True while the fate of an acknowledgement is open."""
        return self._positions.unsettled

    def begin(self, start: Offsets) -> None:
        """Take note of the partitions and where they begin."""
        self._positions = SinkPositions(start)

    def seek(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Read on at these offsets; they count as the newest positions."""
        self._parts.receiver.seek(offsets)
        self._positions.rewind(offsets)

    def commit(self, unput: Sequence[KafkaMessage], *, closing: bool = False) -> None:
        """Have the task flush and acknowledge what it says is durable.

        When it cannot flush, it reads again from the last committed offsets, unless it is `closing`.

        Args:
            unput: Messages read that the task did not take yet.
            closing: True for the last commit of the run.
        """
        parts = self._parts
        self._meter.begin()
        self.schedule.done(self._clock())
        put = self._positions.put(parts.receiver.positions(), unput)
        if not put or not self._failures_are_safe():
            return
        try:
            answer = parts.task.pre_commit(put)
        except Exception:
            self._meter.failed()
            _log.exception("The task could not flush; it continues from the last committed offsets")
            if not closing:
                self.seek(self._positions.committed)
            return
        topics = parts.topics.take_unreported()
        if topics:
            parts.link.topics_seen(topics)
        self._acknowledge(self._positions.durable(answer, put))
        self._tidy()

    def settle(self, settlements: Sequence[Settlement]) -> None:
        """Take note of the fate of acknowledgements."""
        for settlement in settlements:
            self._positions.settle(settlement.sequence, settlement.error)
            self._meter.settled(settlement.sequence, settlement.error)

    def _acknowledge(self, durable: Offsets) -> None:
        if not durable:
            self._meter.nothing_new()
            return
        sequence = self._positions.acknowledge(durable)
        self._parts.link.acknowledge_sink(sequence, durable)
        self._meter.acknowledged(sequence)

    def _failures_are_safe(self) -> bool:
        parts, timing = self._parts, self._timing
        patience = timing.last_commit if parts.control.stopping else timing.flush_timeout
        if parts.dead_letters is not None and not parts.dead_letters.settle(patience, self._clock):
            _log.warning("The dead letter queue does not answer, offsets wait")
            return False
        if parts.errant is not None:
            with failing(Stage.TASK_PUT):
                parts.errant.settle()
        return True
