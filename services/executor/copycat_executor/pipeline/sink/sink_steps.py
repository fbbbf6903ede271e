"""The rounds of one sink task: read, decode, put, commit."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Final

from copycat_connect.data.batches import SinkBatch
from copycat_connect.errors import ConnectError, RetriableError

from copycat_executor.pipeline.records.receiver import KafkaMessage, RecordReceiver
from copycat_executor.pipeline.sink.delivery import SinkDelivery
from copycat_executor.pipeline.sink.positions import Offsets
from copycat_executor.pipeline.sink.sink_context import RunningSinkContext
from copycat_executor.pipeline.sink.sink_parts import SinkParts
from copycat_executor.pipeline.task.commit_meter import CommitMeter
from copycat_executor.pipeline.task.control import Settlement
from copycat_executor.pipeline.task.measures import Measures
from copycat_executor.pipeline.task.stages import Stage, failing
from copycat_executor.pipeline.task.task_link import TaskLink
from copycat_executor.pipeline.task.timing import Timing

#: Between two reports.
_REPORT_INTERVAL_SECONDS: Final = 1.0
#: The same while nothing comes from Kafka: there are only empty puts to report.
_IDLE_REPORT_INTERVAL_SECONDS: Final = 5.0


class _SinkMeter:
    """Measures one run of a sink task, batch by batch, and reports each second while records come."""

    def __init__(
        self, measures: Measures, link: TaskLink, receiver: RecordReceiver, committed: Callable[[], Offsets]
    ) -> None:
        """`committed` says where the task would begin after a crash."""
        self._measures = measures
        self._link = link
        self._receiver = receiver
        self._committed = committed
        self._moved = True
        self.commits = CommitMeter(measures)

    def read(self, records: int) -> None:
        """Count records that came from Kafka."""
        self._moved = True
        self._measures.note("sink-record-read", records)

    def put(self, records: int, began: float) -> None:
        """A put that began at a time of the clock took a batch."""
        measures = self._measures
        measures.note("put-batch-time-ms", (measures.clock() - began) * 1000)
        measures.note("sink-record-send", records)
        measures.note("batch-size", records)

    def report(self, *, now: bool = False) -> None:
        """Report what is new, if a report is due or wanted now."""
        measures = self._measures
        if not (
            now or measures.due(_REPORT_INTERVAL_SECONDS if self._moved else _IDLE_REPORT_INTERVAL_SECONDS)
        ):
            return
        self._moved = False
        committed, read = self._committed(), self._receiver.positions()
        active = sum(max(read.get(each, 0) - offset, 0) for each, offset in committed.items())
        measures.note_state("partition-count", len(committed))
        measures.note_state("sink-record-active-count", active)
        measures.note_state("sink-record-lag", self._receiver.lag())
        self.flush()

    def closed(self) -> None:
        """Report what was noted until everything was closed."""
        self._measures.note_state("partition-count", 0)
        self.flush()

    def flush(self) -> None:
        """Report what was noted already."""
        self._link.measured(self._measures.take())


_log = logging.getLogger(__name__)

#: Reading ends after this time, so that a pause or a stop is noticed; records end it at once.
_MAX_WAIT_SECONDS: Final = 0.1
#: The same once nothing has come for so long: a task at rest is looked at seldom.
_REST_WAIT_SECONDS: Final = 0.5
_REST_AFTER_SECONDS: Final = 2.0
#: While no records come the task gets an empty batch this often, so that it can flush by time.
_EMPTY_PUT_INTERVAL_SECONDS: Final = 1.0
#: Until a batch is put again, when the task asked for no other time.
_PUT_RETRY_DELAY_SECONDS: Final = 0.25


class SinkSteps:
    """What a sink task does in each part of its run (`TaskSteps`)."""

    def __init__(
        self,
        parts: SinkParts,
        delivery: type[SinkDelivery],
        timing: Timing,
        clock: Callable[[], float],
        tidy: Callable[[], None],
    ) -> None:
        """Compose; `tidy` collects garbage and is called where a pause does no harm."""
        self._parts = parts
        self._clock = clock
        self._meter = _SinkMeter(parts.measures, parts.link, parts.receiver, lambda: self._delivery.committed)
        self._delivery = delivery(parts, timing, self._meter.commits, clock, tidy)
        self._schedule = self._delivery.schedule
        self._context = RunningSinkContext(parts)
        self._batch: SinkBatch | None = None
        self._unput: Sequence[KafkaMessage] = ()
        self._put_at = clock()
        self._read_at = clock()

    def start(self, *, paused: bool) -> None:
        """Initialize and start the task, assign its partitions, open them."""
        parts = self._parts
        with parts.calls("start"):
            parts.task.initialize(self._context)
            self._delivery.prepare()
            parts.task.start(parts.config)
            start = self._delivery.begin()
        self._context.assigned(start)
        parts.decoder.expect(partition.topic for partition in start)
        if paused:
            self._context.suspend(True)
        with parts.calls("open"):
            parts.task.open(self._context.assignment)

    def set_paused(self, paused: bool) -> None:
        """Read no more, or again; what was put is committed at once."""
        self._context.suspend(paused)
        self._schedule.request()

    def go_round(self) -> None:
        """Commit what is due, then read a batch and put it, or the one the task did not take yet."""
        if self._context.take_commit_request():
            self._schedule.request()
        if self._schedule.due_in(self._clock()) <= 0:
            with failing(Stage.FLUSH), self._parts.calls("pre_commit"):
                moved = self._delivery.commit(self._unput)
            if moved:
                self._batch, self._unput = None, ()
        self._move()

    def settle(self, settlements: Sequence[Settlement]) -> None:
        """Take note of the fate of acknowledgements."""
        self._delivery.settle(settlements)

    def commit_last(self, *, failed: bool) -> None:
        """Acknowledge what can be made durable, for the last time."""
        if not failed or self._delivery.flushes_after_failure:
            self._delivery.commit(self._unput, closing=True)

    @property
    def unsettled(self) -> bool:
        """True while the fate of an acknowledgement is open."""
        return self._delivery.unsettled

    def report_measures(self, *, now: bool = False) -> None:
        """Report what was measured, if a report is due or wanted now."""
        self._meter.report(now=now)

    def closers(self) -> Sequence[Callable[[], None]]:
        """Return what ends the run: the task's `close` and `stop`, then what it ran with."""
        task, partitions = self._parts.task, self._context.assignment
        return (lambda: task.close(partitions), task.stop, *self._parts.closers, self._meter.closed)

    def cancel(self) -> None:
        """Nothing can be taken from a thread that hangs in the sink; its positions are committed no more."""

    def _move(self) -> None:
        """Read a batch, or give the task the one it did not take yet."""
        if self._batch is None:
            self._next_batch()
        if self._batch is None:
            return
        left = self._put_at - self._clock()
        if left > 0 and self._unput:
            self._parts.control.wait_for_news(min(left, self._schedule.due_in(self._clock())))
        else:
            self._deliver(self._batch)

    def _next_batch(self) -> None:
        parts = self._parts
        rewinds = self._context.take_rewinds()
        if rewinds:
            assigned = self._context.assignment
            self._delivery.seek({each: offset for each, offset in rewinds.items() if each in assigned})
        wait = self._wait()
        if self._context.suspended:
            parts.control.wait_for_news(wait)
            wait = 0.0
        with failing(Stage.KAFKA_CONSUME), parts.calls("read"):
            messages = parts.receiver.read(parts.max_records, wait)
            if messages:
                self._unput, self._read_at = messages, self._clock()
                if parts.traces is not None:
                    parts.traces.read(messages)
                self._delivery.received()
                self._meter.read(len(messages))
                self._batch = parts.decoder.batch(messages)
                self._put_at = 0.0
            elif self._clock() >= self._put_at:
                self._batch = SinkBatch.of(())

    def _wait(self) -> float:
        """Return for how many seconds to wait for records: until something is due, and not too long."""
        now = self._clock()
        due = max(0.0, min(self._schedule.due_in(now), self._put_at - now))
        if self._context.suspended:
            return due  # a resume or a stop ends it
        resting = now - self._read_at > _REST_AFTER_SECONDS
        return min(due, _REST_WAIT_SECONDS if resting else _MAX_WAIT_SECONDS)

    def _deliver(self, batch: SinkBatch) -> None:
        parts, began = self._parts, self._clock()
        try:
            with parts.calls("put"):
                parts.task.put(batch)
        except RetriableError as error:
            parts.calls.failed("put", error)
            wait = self._context.take_timeout()
            self._put_at = self._clock() + (_PUT_RETRY_DELAY_SECONDS if wait is None else wait)
            _log.warning("The sink is not available now, the batch is put again later: %s", error)
            return
        except BaseException as error:
            if parts.traces is not None:
                parts.traces.put(error)
            with failing(Stage.TASK_PUT):
                message = "Exiting WorkerSinkTask due to unrecoverable exception."
                raise ConnectError(message) from error
        if parts.errant is not None:
            with failing(Stage.TASK_PUT):
                parts.errant.check()
        parts.calls.worked("put")
        now = self._clock()
        if self._unput:
            self._schedule.note_data(now)
            if parts.traces is not None:
                parts.traces.put()
        self._meter.put(len(batch), began)
        self._batch, self._unput = None, ()
        wait = self._context.take_timeout()
        self._put_at = now + (_EMPTY_PUT_INTERVAL_SECONDS if wait is None else wait)
