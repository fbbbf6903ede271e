"""The rounds of one sink task: read, decode, put, commit; and what the task may ask meanwhile."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from copycat_connect.cluster import TopicPartition
from copycat_connect.data.batches import SinkBatch
from copycat_connect.errors import ConnectError, RetriableError
from copycat_connect.plugin.contexts import ErrantRecordReporter

from copycat_executor.pipeline.records.receiver import KafkaMessage
from copycat_executor.pipeline.sink.sink_delivery import SinkDelivery
from copycat_executor.pipeline.sink.sink_runtime import SinkRuntime
from copycat_executor.pipeline.task.control import Settlement
from copycat_executor.pipeline.task.stages import Stage, failing

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
#: Between two reports of measures.
_REPORT_INTERVAL_SECONDS: Final = 1.0
#: The same while nothing comes from Kafka: there are only empty puts to report.
_IDLE_REPORT_INTERVAL_SECONDS: Final = 5.0


class SinkLoop:
    """What a sink task does in each part of its run (`TaskSteps`)."""

    def __init__(self, runtime: SinkRuntime, delivery: SinkDelivery) -> None:
        clock = runtime.clock
        self._runtime = runtime
        self._clock = clock
        self._meter = SinkMeter(runtime, delivery)
        self._delivery = delivery
        self._schedule = delivery.schedule
        self._context = RunningSinkContext(runtime)
        self._batch: SinkBatch | None = None
        self._unput: Sequence[KafkaMessage] = ()
        self._put_at = clock()
        self._read_at = clock()

    def start(self, *, paused: bool) -> None:
        """Initialize and start the task, assign its partitions, open them."""
        runtime = self._runtime
        with runtime.calls("start"):
            runtime.task.initialize(self._context)
            self._delivery.prepare()
            runtime.task.start(runtime.config)
            start = self._delivery.begin()
        self._context.assigned(start)
        runtime.decoder.expect(partition.topic for partition in start)
        if paused:
            self._context.suspend(True)
        with runtime.calls("open"):
            runtime.task.open(self._context.assignment)

    def set_paused(self, paused: bool) -> None:
        """Read no more, or again; what was put is committed at once."""
        self._context.suspend(paused)
        self._schedule.request()

    def go_round(self) -> None:
        """Commit what is due, then read a batch and put it, or the one the task did not take yet."""
        if self._context.take_commit_request():
            self._schedule.request()
        if self._schedule.due_in(self._clock()) <= 0:
            with failing(Stage.FLUSH), self._runtime.calls("pre_commit"):
                moved = self._delivery.commit(self._unput)
            if moved:
                self._batch, self._unput = None, ()
        self._read_or_put_again()

    def settle(self, settlements: Sequence[Settlement]) -> None:
        """Note the answers to acknowledgements."""
        self._delivery.settle(settlements)

    def commit_last(self, *, failed: bool) -> None:
        """Acknowledge what can be made durable, for the last time."""
        if not failed or self._delivery.flushes_after_failure:
            self._delivery.commit(self._unput, closing=True)

    @property
    def unsettled(self) -> bool:
        """True while an acknowledgement has no answer."""
        return self._delivery.unsettled

    def report_measures(self, *, now: bool = False) -> None:
        """Report what was measured, if a report is due or wanted now."""
        self._meter.report(now=now)

    def closers(self) -> Sequence[Callable[[], None]]:
        """Return what ends the run: the task's `close` and `stop`, then what it ran with."""
        task, partitions = self._runtime.task, self._context.assignment
        return (lambda: task.close(partitions), task.stop, *self._runtime.closers, self._meter.closed)

    def cancel(self) -> None:
        """Do nothing: a thread that hangs has no producer, and its positions are committed no more."""

    def _read_or_put_again(self) -> None:
        """Read a batch, or give the task the one it did not take yet."""
        if self._batch is None:
            self._next_batch()
        if self._batch is None:
            return
        left = self._put_at - self._clock()
        if left > 0:
            self._runtime.control.wait_for_news(min(left, self._schedule.due_in(self._clock())))
        else:
            self._deliver(self._batch)

    def _next_batch(self) -> None:
        runtime = self._runtime
        self._delivery.follow_topics()
        rewinds = self._context.take_rewinds()
        if rewinds:
            assigned = self._context.assignment
            self._delivery.seek({each: offset for each, offset in rewinds.items() if each in assigned})
        wait = self._wait()
        if self._context.suspended:
            runtime.control.wait_for_news(wait)
            wait = 0.0
        with failing(Stage.KAFKA_CONSUME), runtime.calls("read"):
            messages = runtime.receiver.read(runtime.max_records, wait)
            if messages:
                self._unput, self._read_at = messages, self._clock()
                self._unput = messages = self._delivery.received(messages)
            if messages:
                if runtime.traces is not None:
                    runtime.traces.read(messages)
                self._meter.read(len(messages))
                self._batch = runtime.decoder.batch(messages)
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
        runtime, began = self._runtime, self._clock()
        try:
            with runtime.calls("put"):
                runtime.task.put(batch)
        except RetriableError as error:
            runtime.calls.failed("put", error)
            wait = self._context.take_timeout()
            self._put_at = self._clock() + (_PUT_RETRY_DELAY_SECONDS if wait is None else wait)
            _log.warning("The sink is not available now, the batch is put again later: %s", error)
            return
        except BaseException as error:
            if runtime.traces is not None:
                runtime.traces.put(error)
            with failing(Stage.TASK_PUT):
                raise ConnectError("Exiting WorkerSinkTask due to unrecoverable exception.") from error
        if runtime.errant is not None:
            with failing(Stage.TASK_PUT):
                runtime.errant.check()
        runtime.calls.worked("put")
        now = self._clock()
        if self._unput:
            self._schedule.note_data(now)
            if runtime.traces is not None:
                runtime.traces.put()
        self._meter.put(len(batch), began)
        self._batch, self._unput = None, ()
        wait = self._context.take_timeout()
        self._put_at = now + (_EMPTY_PUT_INTERVAL_SECONDS if wait is None else wait)


class RunningSinkContext:
    """The context of a running sink task (`SinkTaskContext`); requests are met between puts."""

    def __init__(self, runtime: SinkRuntime) -> None:
        self._runtime = runtime
        self._receiver = runtime.receiver
        self._assignment: frozenset[TopicPartition] = frozenset()
        self._paused: frozenset[TopicPartition] = frozenset()
        self._rewinds: dict[TopicPartition, int] = {}
        self._timeout: float | None = None
        self._commit_requested = False
        self.suspended = False

    @property
    def assignment(self) -> frozenset[TopicPartition]:
        """The partitions the task reads now."""
        return self._assignment

    @property
    def errant_record_reporter(self) -> ErrantRecordReporter | None:
        """Takes records that the task cannot write (KIP-610); None when nothing would become of them."""
        return self._runtime.errant

    @property
    def group_id(self) -> str:
        """The consumer group that holds the positions."""
        return self._runtime.group_id

    @property
    def transactional_id(self) -> str | None:
        """The task's own transactional id; None unless it delivers exactly once."""
        return self._runtime.transactional_id

    def configs(self) -> Mapping[str, str]:
        """Return the task's configuration, placeholders resolved."""
        return self._runtime.config

    def offset(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Continue reading at these offsets."""
        self._rewinds |= offsets

    def timeout(self, millis: int) -> None:
        """Wait no longer than this before the next put."""
        self._timeout = millis / 1000

    def pause(self, partitions: Iterable[TopicPartition]) -> None:
        """Read no more from these partitions."""
        chosen = self._owned(partitions, "pause")
        self._paused |= chosen
        self._receiver.pause(chosen)

    def resume(self, partitions: Iterable[TopicPartition]) -> None:
        """Read from these partitions again."""
        chosen = self._owned(partitions, "resume")
        self._paused -= chosen
        if not self.suspended:
            self._receiver.resume(chosen)

    def request_commit(self) -> None:
        """Ask for an offset commit soon."""
        self._commit_requested = True

    def wait(self, seconds: float) -> bool:
        """Wait, but no longer than until the task is being stopped."""
        return self._runtime.calls.rest(self._runtime.control.wait, seconds)

    def assigned(self, partitions: Iterable[TopicPartition]) -> None:
        """Set the assignment (engine only)."""
        self._assignment = frozenset(partitions)

    def suspend(self, suspended: bool) -> None:
        """Pause all partitions, or resume those the task did not pause itself (engine only)."""
        self.suspended = suspended
        if suspended:
            self._receiver.pause(self._assignment)
        else:
            self._receiver.resume(self._assignment - self._paused)

    def take_rewinds(self) -> dict[TopicPartition, int]:
        """Return requested positions (engine only)."""
        taken, self._rewinds = self._rewinds, {}
        return taken

    def take_timeout(self) -> float | None:
        """Return the requested wait in seconds (engine only)."""
        taken, self._timeout = self._timeout, None
        return taken

    def take_commit_request(self) -> bool:
        """Return whether a commit was requested (engine only)."""
        taken, self._commit_requested = self._commit_requested, False
        return taken

    def _owned(self, partitions: Iterable[TopicPartition], verb: str) -> frozenset[TopicPartition]:
        chosen = frozenset(partitions)
        if not chosen <= self._assignment:
            raise ConnectError(
                f"SinkTasks may not {verb} partitions that are not currently assigned to them."
            )
        return chosen


class SinkMeter:
    """Measures one run of a sink task, batch by batch, and reports each second while records come."""

    def __init__(self, runtime: SinkRuntime, delivery: SinkDelivery) -> None:
        self._measures = runtime.measures
        self._link = runtime.link
        self._receiver = runtime.receiver
        self._delivery = delivery
        self._moved = True

    def read(self, records: int) -> None:
        """Count records that came from Kafka."""
        self._moved = True
        self._measures.note("sink-record-read", records)

    def put(self, records: int, began: float) -> None:
        """Note a put that took a batch; `began` is the clock's time."""
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
        committed, read = self._delivery.committed, self._receiver.positions()
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
