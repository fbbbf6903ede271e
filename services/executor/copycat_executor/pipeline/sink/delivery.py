"""What the guarantees of a sink have in common: how far it got, and how that is committed.

All that one guarantee consists of is in a class of its own: `AtLeastOnce`, `AtMostOnce`, `ExactlyOnce`.
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeVar

from copycat_connect.cluster import TopicPartition
from copycat_connect.errors import ConnectError, RetriableError

from copycat_executor.pipeline.records.receiver import KafkaMessage
from copycat_executor.pipeline.sink.positions import Offsets, SinkPositions
from copycat_executor.pipeline.sink.sink_parts import SinkParts
from copycat_executor.pipeline.task.commit_meter import CommitMeter
from copycat_executor.pipeline.task.control import Settlement
from copycat_executor.pipeline.task.schedule import CommitSchedule
from copycat_executor.pipeline.task.stages import DrainedError, Stage, StaleTaskError, failing
from copycat_executor.pipeline.task.timing import Timing

_log = logging.getLogger(__name__)

_KAFKA_RETRY_DELAY_SECONDS: Final = 1.0
#: Who waits for a commit looks this often whether the task must end.
_SETTLEMENT_CHECK_SECONDS: Final = 0.1

T = TypeVar("T")


class SinkDelivery(ABC):
    """Decides where a sink task begins, and when positions are committed; the task's thread calls it."""

    flushes_after_failure = True
    """Whether what was put before a task failed is flushed and committed."""

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

    @abstractmethod
    def prepare(self) -> None:
        """Do what must be done before the task is started."""

    @abstractmethod
    def begin(self) -> dict[TopicPartition, int]:
        """Begin to read, after the task was started; returns where."""

    @abstractmethod
    def received(self) -> None:
        """Do what must be done before what was read from Kafka is converted and put."""

    def seek(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Read on at these offsets, as the task asked for; they count as the newest positions."""
        self._parts.receiver.seek(offsets)
        self._positions.rewind(offsets)

    def commit(self, unput: Sequence[KafkaMessage], *, closing: bool = False) -> bool:
        """Have the task flush, and go by what it says is durable.

        Args:
            unput: Messages read that the task did not take yet.
            closing: True for the last commit of the run.

        Returns:
            True when it could not flush and reading goes on elsewhere: `unput` is read again.
        """
        parts = self._parts
        self._meter.begin()
        self.schedule.done(self._clock())
        put = self._positions.put(parts.receiver.positions(), unput)
        if not put or not self._failures_are_safe():
            return False
        try:
            answer = parts.task.pre_commit(put)
        except BaseException as error:
            self._meter.failed()
            parts.calls.failed("pre_commit", error)
            _log.exception("The task could not flush")
            return not closing and self._flush_failed()
        parts.calls.worked("pre_commit")
        parts.topics.report(parts.link)
        self._flushed(self._positions.durable(answer, put))
        self._tidy()
        return False

    @abstractmethod
    def _flush_failed(self) -> bool:
        """Go on after the task could not flush; returns whether reading goes on elsewhere."""

    def _flushed(self, durable: Offsets) -> None:
        """Acknowledge what is new of what is durable now."""
        if not durable:
            self._meter.nothing_new()
            return
        self._acknowledge(durable)

    def settle(self, settlements: Sequence[Settlement]) -> None:
        """Take note of the fate of acknowledgements."""
        for settlement in settlements:
            self._positions.settle(settlement.sequence, settlement.error)
            self._meter.settled(settlement.sequence, settlement.error)

    def _acknowledge(self, offsets: Offsets) -> int:
        sequence = self._positions.acknowledge(offsets)
        self._parts.link.acknowledge_sink(sequence, offsets)
        self._meter.acknowledged(sequence)
        return sequence

    def _commit_now(self, offsets: Offsets) -> None:
        """Acknowledge offsets and wait until they are committed; none ask only whether a newer task exists.

        A task that is drained meanwhile waits on, for as long as its last commit may take.

        Raises:
            StaleTaskError: A newer generation of the task exists (I2).
            DrainedError: The task must end before there was an answer.
            ConnectError: They cannot be committed.
        """
        self._meter.begin()
        sequence, control, patience = self._acknowledge(offsets), self._parts.control, None
        while True:
            settlements = control.take_settlements()
            if any(settlement.stale for settlement in settlements):
                raise StaleTaskError
            self.settle(settlements)
            for settlement in settlements:
                if settlement.sequence == sequence:
                    return _check(settlement)
            if control.stopping and patience is None:
                patience = self._clock() + self._timing.last_commit
            if control.dropped or (patience is not None and self._clock() >= patience):
                raise DrainedError
            control.wait_for_news(_SETTLEMENT_CHECK_SECONDS)

    def _with_kafka(self, ask: Callable[[], T]) -> T:
        """Return what Kafka answers, trying until it does.

        Raises:
            DrainedError: The task must end before that.
        """
        while True:
            try:
                answer = ask()
            except RetriableError as error:
                self._parts.calls.failed("read", error)
                _log.warning("Kafka cannot be reached, trying again: %s", error)
            else:
                self._parts.calls.worked("read")
                return answer
            if self._parts.control.wait(_KAFKA_RETRY_DELAY_SECONDS):
                raise DrainedError

    def _begin_at(self, offsets: Mapping[TopicPartition, int | None]) -> dict[TopicPartition, int]:
        start = self._with_kafka(lambda: self._parts.receiver.assign(offsets))
        self._positions = SinkPositions(start)
        return start

    def _group_positions(self) -> dict[TopicPartition, int | None]:
        """Ask for the group's positions as they are now, and not as they were when the task was ordered."""
        partitions = list(self._parts.partitions)
        return self._with_kafka(lambda: self._parts.receiver.committed(partitions))

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


def _check(settlement: Settlement) -> None:
    if settlement.error:
        message = (
            f"The positions cannot be committed, and without that delivery.guarantee allows no delivery: "
            f"{settlement.error}"
        )
        raise ConnectError(message)
