"""What the guarantees of a sink have in common: how far it got, and how that is committed.

What differs between the guarantees is in `sink_guarantees`.
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeVar

from copycat_connect.cluster import TopicPartition
from copycat_connect.errors import ConnectError, RetriableError

from copycat_executor.pipeline.records.receiver import KafkaMessage
from copycat_executor.pipeline.sink.sink_runtime import SinkRuntime
from copycat_executor.pipeline.task.control import Settlement
from copycat_executor.pipeline.task.measures import CommitMeter
from copycat_executor.pipeline.task.stages import DrainedError, Stage, StaleTaskError, failing
from copycat_executor.pipeline.task.timing import CommitSchedule

_log = logging.getLogger(__name__)

_KAFKA_RETRY_DELAY_SECONDS: Final = 1.0
#: A wait for a commit looks this often whether the task must end.
_SETTLEMENT_CHECK_SECONDS: Final = 0.1

T = TypeVar("T")
Offsets = Mapping[TopicPartition, int]


class SinkDelivery(ABC):
    """Decides where a sink task begins, and when positions are committed; the task's thread calls it."""

    flushes_after_failure = True
    """Whether what was put before a task failed is flushed and committed."""

    def __init__(self, runtime: SinkRuntime) -> None:
        self._runtime = runtime
        self._meter = CommitMeter(runtime.measures)
        self._clock = runtime.clock
        self._progress = SinkProgress({})
        self._restarts: dict[TopicPartition, int] = {}
        self.schedule = CommitSchedule(runtime.timing.commit_interval, runtime.clock())

    @property
    def committed(self) -> dict[TopicPartition, int]:
        """Where the task would begin after a crash."""
        return self._progress.committed

    @property
    def unsettled(self) -> bool:
        """True while an acknowledgement has no answer."""
        return self._progress.unsettled

    @abstractmethod
    def prepare(self) -> None:
        """Do what must be done before the task is started."""

    @abstractmethod
    def begin(self) -> dict[TopicPartition, int]:
        """Begin to read, after the task was started; returns where."""

    @abstractmethod
    def received(self, messages: list[KafkaMessage]) -> list[KafkaMessage]:
        """Do what must be done before what was read from Kafka is converted and put; returns what to put."""

    def seek(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Read on at these offsets, as the task asked for; they count as the newest positions."""
        self._runtime.receiver.seek(offsets)
        self._progress.rewind(offsets)

    def commit(self, unput: Sequence[KafkaMessage], *, closing: bool = False) -> bool:
        """Let the task flush, and acknowledge what it says is durable.

        Args:
            unput: Messages read that the task did not take yet.
            closing: True for the last commit of the run.

        Returns:
            True when it could not flush and reading goes on elsewhere: `unput` is read again.
        """
        runtime = self._runtime
        self._meter.begin()
        self.schedule.done(self._clock())
        put = self._progress.put(runtime.receiver.positions(), unput)
        if not put or not self._failures_are_safe():
            return False
        if put != self._progress.committed:
            self._restarts |= runtime.receiver.restarted(wait=True)
            if self._restarts and self._takes_back(closing=closing):
                return True
        try:
            answer = runtime.task.pre_commit(put)
        except BaseException as error:
            self._meter.failed()
            runtime.calls.failed("pre_commit", error)
            _log.exception("The task could not flush")
            return not closing and self._flush_failed()
        runtime.calls.worked("pre_commit")
        runtime.topics.report(runtime.link)
        durable = self._progress.durable(answer, put)
        self._flushed({each: offset for each, offset in durable.items() if each not in self._restarts})
        if closing and self._restarts:
            self._acknowledge(self._restarts)
        self._runtime.collect_garbage()
        return False

    def follow_topics(self) -> None:
        """Read topics from their beginning that were deleted and made anew; all that was read is put.

        Kafka deletes a group's positions with their topic. Those of the former one would leave out what the
        new one begins with, here and after a crash.
        """
        runtime, task = self._runtime, self._runtime.task
        with failing(Stage.KAFKA_CONSUME):
            noticed = runtime.receiver.restarted(wait=False)
        if noticed:
            self._restarts |= noticed
            with failing(Stage.FLUSH), runtime.calls("pre_commit"):
                self.commit(())  # what was put of the former topic is nowhere else any more
        start = self._restarts
        if not start:
            return
        topics = ", ".join(sorted({partition.topic for partition in start}))
        _log.warning("%s was deleted and made anew: it is read from its beginning", topics)
        with failing(Stage.KAFKA_CONSUME), runtime.calls("open"):
            task.close(frozenset(start))
            task.made_anew(frozenset(start))
            runtime.receiver.seek(start)
            self._progress.rewind(start)
            task.open(frozenset(start))
            self._begun_anew(start)
        self._restarts = {}

    def _takes_back(self, *, closing: bool) -> bool:
        """Return whether what was put and not stored was taken back, since some is of topics made anew."""
        return False

    def _begun_anew(self, start: Offsets) -> None:
        """Note where topics that were made anew begin."""
        self._acknowledge(start)

    @abstractmethod
    def _flush_failed(self) -> bool:
        """Go on after the task could not flush; returns whether reading goes on elsewhere."""

    def _flushed(self, durable: Offsets) -> None:
        """Acknowledge what is newly durable."""
        if not durable:
            self._meter.nothing_new()
            return
        self._acknowledge(durable)

    def settle(self, settlements: Sequence[Settlement]) -> None:
        """Note the answers to acknowledgements."""
        for settlement in settlements:
            self._progress.settle(settlement.sequence, settlement.error)
            self._meter.settled(settlement.sequence, settlement.error)

    def _acknowledge(self, offsets: Offsets) -> int:
        sequence = self._progress.acknowledge(offsets)
        self._runtime.link.acknowledge_sink(sequence, offsets)
        self._meter.acknowledged(sequence)
        return sequence

    def _commit_now(self, offsets: Offsets) -> None:
        """Acknowledge offsets and wait until they are committed; without any, only look for a newer task.

        A task that is drained meanwhile waits on, for as long as its last commit may take.

        Raises:
            StaleTaskError: A newer generation of the task exists (I2).
            DrainedError: The task must end before there was an answer.
            ConnectError: They cannot be committed.
        """
        self._meter.begin()
        sequence, control, patience = self._acknowledge(offsets), self._runtime.control, None
        while True:
            settlements = control.take_settlements()
            if any(settlement.stale for settlement in settlements):
                raise StaleTaskError
            self.settle(settlements)
            for settlement in settlements:
                if settlement.sequence == sequence:
                    return _check(settlement)
            if control.stopping and patience is None:
                patience = self._clock() + self._runtime.timing.last_commit
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
                self._runtime.calls.failed("read", error)
                _log.warning("Kafka cannot be reached, trying again: %s", error)
            else:
                self._runtime.calls.worked("read")
                return answer
            if self._runtime.control.wait(_KAFKA_RETRY_DELAY_SECONDS):
                raise DrainedError

    def _begin_at(self, offsets: Mapping[TopicPartition, int | None]) -> dict[TopicPartition, int]:
        start = self._with_kafka(lambda: self._runtime.receiver.assign(offsets))
        self._progress = SinkProgress(start)
        return start

    def _group_positions(self) -> dict[TopicPartition, int | None]:
        """Ask for the group's positions as they are now, and not as they were when the task was ordered."""
        partitions = list(self._runtime.partitions)
        return self._with_kafka(lambda: self._runtime.receiver.committed(partitions))

    def _failures_are_safe(self) -> bool:
        runtime, timing = self._runtime, self._runtime.timing
        patience = timing.last_commit if runtime.control.stopping else timing.flush_timeout
        if runtime.dead_letters is not None and not runtime.dead_letters.settle(patience, self._clock):
            _log.warning("The dead letter queue does not answer, offsets wait")
            return False
        if runtime.errant is not None:
            with failing(Stage.TASK_PUT):
                return runtime.errant.settle()
        return True


def _check(settlement: Settlement) -> None:
    if settlement.error:
        raise ConnectError(
            f"The positions cannot be committed, and without that delivery.guarantee allows no delivery: "
            f"{settlement.error}"
        )


class SinkProgress:
    """How far a sink task got: positions read, acknowledged and committed; a position is the next offset."""

    def __init__(self, start: Offsets) -> None:
        self._base = dict(start)
        self._committed = dict(start)
        self._acknowledged = dict(start)
        self._unsettled: dict[int, dict[TopicPartition, int]] = {}
        self._sequence = 0

    @property
    def unsettled(self) -> bool:
        """True while an acknowledgement has no answer."""
        return bool(self._unsettled)

    @property
    def committed(self) -> dict[TopicPartition, int]:
        """Where the task would begin after a crash."""
        return dict(self._committed)

    def put(self, read: Offsets, unput: Sequence[KafkaMessage]) -> dict[TopicPartition, int]:
        """Return what was given to the task: what was read but for the messages it did not take yet."""
        positions = self._base | dict(read)
        for message in reversed(unput):
            positions[TopicPartition(message.topic(), message.partition())] = message.offset()
        return positions

    def rewind(self, offsets: Offsets) -> None:
        """Note that reading continues elsewhere."""
        self._base |= offsets

    def durable(self, answer: Offsets | None, put: Offsets) -> dict[TopicPartition, int]:
        """Choose what to commit of what the task says is durable: never more than it was given."""
        chosen: dict[TopicPartition, int] = {}
        for partition, offset in (answer or {}).items():
            if partition not in put:
                _log.warning("Ignoring the offset of %s, which is not assigned", partition)
            elif offset > put[partition]:
                _log.warning("Ignoring offset %d of %s: it was not delivered yet", offset, partition)
            elif self._acknowledged.get(partition) != offset:
                chosen[partition] = offset
        return chosen

    def acknowledge(self, offsets: Offsets) -> int:
        """Note that offsets are on their way; returns the number of the acknowledgement."""
        self._sequence += 1
        self._unsettled[self._sequence] = dict(offsets)
        self._acknowledged |= offsets
        return self._sequence

    def settle(self, sequence: int, error: str) -> None:
        """Note the answer to an acknowledgement; a refused one is tried again."""
        offsets = self._unsettled.pop(sequence, {})
        if error:
            _log.warning("Offsets were not committed and are tried again: %s", error)
            self._acknowledged = dict(self._committed)
        else:
            self._committed |= offsets
