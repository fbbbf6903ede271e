"""Runs one sink task: read, decode, put, flush, acknowledge, again and again until told to end."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from copycat_connect.cluster import TopicPartition
from copycat_connect.data.batches import SinkBatch
from copycat_connect.errors import ConnectError, RetriableError
from copycat_connect.plugin.tasks import SinkTask

from copycat_executor.pipeline.records.dead_letter import DeadLetterQueue
from copycat_executor.pipeline.records.receiver import KafkaMessage, RecordReceiver
from copycat_executor.pipeline.records.stages import (
    DrainedError,
    Stage,
    StaleTaskError,
    TaskFailedError,
    failing,
)
from copycat_executor.pipeline.sink.context import RunningSinkContext
from copycat_executor.pipeline.sink.decode import Decoder
from copycat_executor.pipeline.sink.errant import ErrantRecords
from copycat_executor.pipeline.sink.meter import SinkMeter
from copycat_executor.pipeline.sink.positions import SinkPositions
from copycat_executor.pipeline.task.control import TaskControl
from copycat_executor.pipeline.task.link import TaskLink, TaskState
from copycat_executor.pipeline.task.measures import Measures
from copycat_executor.pipeline.task.schedule import CommitSchedule
from copycat_executor.pipeline.task.timing import Timing
from copycat_executor.pipeline.task.topics import TopicLedger

_log = logging.getLogger(__name__)

_REST: Final = 0.1
_EMPTY_PUT: Final = 1.0
_RETRY: Final = 0.25
_AGAIN: Final = 1.0


@dataclass(frozen=True, slots=True)
class SinkParts:
    """What a sink task runs with."""

    task: SinkTask
    """The task, not yet started."""
    config: Mapping[str, str]
    """Its configuration, placeholders resolved."""
    partitions: Mapping[TopicPartition, int | None]
    """What it reads, with the committed positions."""
    receiver: RecordReceiver
    """Reads from Kafka."""
    decoder: Decoder
    """Makes its batches."""
    measures: Measures
    """Its numbers."""
    topics: TopicLedger
    """Its topics."""
    link: TaskLink
    """Where it reports to."""
    control: TaskControl
    """Where it is told what to do."""
    max_records: int
    """The most records of one batch."""
    dead_letters: DeadLetterQueue | None = None
    """Takes failed records."""
    errant: ErrantRecords | None = None
    """Takes records the task cannot write."""
    closers: Sequence[Callable[[], None]] = ()
    """What to let go of at the end, after the task's `stop`."""


class SinkRunner:
    """One run of one sink task, from `initialize` to `stop`; used by one thread."""

    def __init__(
        self, parts: SinkParts, timing: Timing, clock: Callable[[], float], tidy: Callable[[], None]
    ) -> None:
        """Compose the run; `tidy` collects garbage and is called where a pause does no harm."""
        self._parts = parts
        self._timing = timing
        self._clock = clock
        self._tidy = tidy
        self._schedule = CommitSchedule(timing.commit_interval, clock())
        self._context = RunningSinkContext(
            lambda: parts.config, parts.receiver, parts.errant, parts.control.wait
        )
        self._positions = SinkPositions({})
        self._batch: SinkBatch | None = None
        self._unput: Sequence[KafkaMessage] = ()
        self._put_at = clock()
        self._meter = SinkMeter(parts.measures, parts.link, parts.receiver, lambda: self._positions.committed)

    def run(self) -> None:
        """Run until told to end; blocks.

        Raises:
            TaskFailedError: The task failed; everything is closed.
            StaleTaskError: A newer generation of the task exists; everything is closed.
        """
        try:
            self._start()
            try:
                self._loop()
            except TaskFailedError:
                self._commit_last()
                raise
            self._commit_last()
        except DrainedError:
            _log.info("The task was told to end before it had started")
        finally:
            self._close()

    def cancel(self) -> None:
        """Nothing can be taken from a thread that hangs in the sink; its positions are committed no more."""

    def _start(self) -> None:
        parts = self._parts
        paused = parts.control.paused
        if paused:
            parts.link.state(TaskState.PAUSED)
        with failing(Stage.START):
            parts.task.initialize(self._context)
            parts.task.start(parts.config)
            start = self._assign()
            self._positions = SinkPositions(start)
            self._context.assigned(start)
            parts.decoder.expect(partition.topic for partition in start)
            if paused:
                self._context.suspend(True)
            parts.task.open(self._context.assignment)
        self._tidy()
        if not paused:
            parts.link.state(TaskState.RUNNING)

    def _assign(self) -> dict[TopicPartition, int]:
        while True:
            try:
                return self._parts.receiver.assign(self._parts.partitions)
            except RetriableError as error:
                _log.warning("Kafka is away, trying again: %s", error)
            if self._parts.control.wait(_AGAIN):
                raise DrainedError

    def _loop(self) -> None:
        control = self._parts.control
        try:
            while not control.stopping:
                self._settle()
                self._meter.report()
                if control.paused is not self._context.suspended:
                    self._follow_target(control.paused)
                if self._context.take_commit_request():
                    self._schedule.request()
                if self._schedule.due_in(self._clock()) <= 0:
                    with failing(Stage.FLUSH):
                        self._commit()
                self._move()
        except DrainedError:
            return

    def _follow_target(self, paused: bool) -> None:
        self._context.suspend(paused)
        self._schedule.request()
        self._parts.link.state(TaskState.PAUSED if paused else TaskState.RUNNING)

    def _move(self) -> None:
        """Read a batch, or give the task the one it did not take yet."""
        if self._batch is None:
            self._next_batch()
        if self._batch is None:
            return
        left = self._put_at - self._clock()
        if left > 0 and self._unput:
            self._parts.control.wait_for_news(min(left, _REST))
        else:
            self._deliver(self._batch)

    def _next_batch(self) -> None:
        parts = self._parts
        rewinds = self._context.take_rewinds()
        if rewinds:
            self._seek(rewinds)
        now = self._clock()
        wait = max(0.0, min(_REST, self._schedule.due_in(now), self._put_at - now))
        with failing(Stage.KAFKA_CONSUME):
            messages = parts.receiver.read(parts.max_records, wait)
            if messages:
                self._unput = messages
                self._meter.read(len(messages))
                self._batch = parts.decoder.batch(messages)
                self._put_at = 0.0
            elif self._clock() >= self._put_at:
                self._batch = SinkBatch.of(())

    def _deliver(self, batch: SinkBatch) -> None:
        parts, began = self._parts, self._clock()
        try:
            parts.task.put(batch)
        except RetriableError as error:
            wait = self._context.take_timeout()
            self._put_at = self._clock() + (_RETRY if wait is None else wait)
            _log.warning("The sink is away, the batch is put again later: %s", error)
            return
        except Exception as error:
            with failing(Stage.TASK_PUT):
                message = "Exiting WorkerSinkTask due to unrecoverable exception."
                raise ConnectError(message) from error
        if parts.errant is not None:
            with failing(Stage.TASK_PUT):
                parts.errant.check()
        now = self._clock()
        if self._unput:
            self._schedule.note_data(now)
        self._meter.put(len(batch), began)
        self._batch, self._unput = None, ()
        wait = self._context.take_timeout()
        self._put_at = now + (_EMPTY_PUT if wait is None else wait)

    def _seek(self, offsets: Mapping[TopicPartition, int]) -> None:
        chosen = {each: offset for each, offset in offsets.items() if each in self._context.assignment}
        self._parts.receiver.seek(chosen)
        self._positions.rewind(chosen)

    def _commit(self, *, closing: bool = False) -> None:
        parts = self._parts
        self._meter.commits.begin()
        self._schedule.done(self._clock())
        put = self._positions.put(parts.receiver.positions(), self._unput)
        if not put or not self._failures_are_safe():
            return
        try:
            answer = parts.task.pre_commit(put)
        except Exception:
            self._meter.commits.failed()
            _log.exception("The task could not flush; it continues from the last committed offsets")
            if not closing:
                self._seek(self._positions.committed)
            return
        topics = parts.topics.take_unreported()
        if topics:
            parts.link.topics_seen(topics)
        durable = self._positions.durable(answer, put)
        if durable:
            sequence = self._positions.acknowledge(durable)
            parts.link.acknowledge_sink(sequence, durable)
            self._meter.commits.acknowledged(sequence)
        else:
            self._meter.commits.nothing_new()
        self._tidy()

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

    def _settle(self) -> None:
        for settlement in self._parts.control.take_settlements():
            if settlement.stale:
                raise StaleTaskError
            self._positions.settle(settlement.sequence, settlement.error)
            self._meter.commits.settled(settlement.sequence, settlement.error)

    def _commit_last(self) -> None:
        """Acknowledge for the last time and wait for the answer, while a drain leaves time for it."""
        control = self._parts.control
        if control.dropped:
            return
        until = self._clock() + self._timing.last_commit
        try:
            self._commit(closing=True)
            while self._positions.unsettled and not control.dropped and self._clock() < until:
                control.wait_for_news(_REST)
                self._settle()
        except StaleTaskError:
            raise
        except Exception:
            _log.exception("The last offset commit failed; records since the one before will be repeated")

    def _close(self) -> None:
        task, partitions, meter = self._parts.task, self._context.assignment, self._meter
        ends = (lambda: task.close(partitions), task.stop, *self._parts.closers, meter.closed)
        for close in (lambda: meter.report(now=True), *ends):
            try:
                close()
            except Exception:
                _log.exception("Something did not close")
