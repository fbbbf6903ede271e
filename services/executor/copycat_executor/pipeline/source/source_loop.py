"""The rounds of one source task: poll, deliver, commit; and what the task may ask meanwhile."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from copycat_connect.errors import RetriableError
from copycat_connect.plugin.contexts import SourceOffset, SourcePartition, TransactionContext

from copycat_executor.pipeline.source.source_offsets import from_json, partition_key
from copycat_executor.pipeline.source.source_path import Batch
from copycat_executor.pipeline.source.source_runtime import SourceDelivery, SourceRuntime
from copycat_executor.pipeline.task.control import Settlement
from copycat_executor.pipeline.task.stages import Stage, failing
from copycat_executor.pipeline.task.task_link import until_answered

_log = logging.getLogger(__name__)

#: After a poll without records by a task that does not wait itself.
_EMPTY_POLL_PAUSE_SECONDS: Final = 0.05
#: A paused task looks this often whether a commit is due; a resume wakes it at once.
_PAUSED_CHECK_SECONDS: Final = 1.0
_FIRST_RETRY_DELAY_SECONDS: Final = 0.1
_MAX_RETRY_DELAY_SECONDS: Final = 5.0
#: Between two reports of measures; while the task rests there is nothing to report.
_REPORT_INTERVAL_SECONDS: Final = 1.0


class SourceLoop:
    """What a source task does in each part of its run (`TaskSteps`)."""

    def __init__(self, runtime: SourceRuntime, delivery: SourceDelivery) -> None:
        self._runtime = runtime
        self._meter = _SourceMeter(runtime)
        self._delivery = delivery
        self._context = _RunningSourceContext(runtime, delivery)
        self._paused = False
        self._retry_delay = _FIRST_RETRY_DELAY_SECONDS

    def start(self, *, paused: bool) -> None:
        """Initialize and start the task."""
        self._paused = paused
        with self._runtime.calls("start"):
            self._delivery.prepare()
            self._runtime.task.initialize(self._context)
            self._runtime.task.start(self._runtime.config)

    def set_paused(self, paused: bool) -> None:
        """Poll no more, or again; commits go on."""
        self._paused = paused
        if paused:
            with failing(Stage.FLUSH):
                self._delivery.pause()

    def go_round(self) -> None:
        """Poll and deliver once, unless paused or behind, and commit what is due."""
        if self._paused:
            self._runtime.control.wait_for_news(_PAUSED_CHECK_SECONDS)
        elif not self._delivery.behind:
            self._poll_and_deliver()
        with failing(Stage.FLUSH), self._runtime.calls("commit offsets"):
            self._delivery.commit_if_due()

    def settle(self, settlements: Sequence[Settlement]) -> None:
        """Note the answers to acknowledgements."""
        self._delivery.settle(settlements)

    def commit_last(self, *, failed: bool) -> None:
        """Commit what can be made durable, for the last time."""
        self._delivery.commit_last(failed=failed)

    @property
    def unsettled(self) -> bool:
        """True while an acknowledgement has no answer."""
        return self._delivery.unsettled

    def report_measures(self, *, now: bool = False) -> None:
        """Report what was measured, if a report is due or wanted now."""
        self._meter.report(now=now)

    def closers(self) -> Sequence[Callable[[], None]]:
        """Return what ends the run: the task's `stop`, then what it ran with."""
        return (self._runtime.task.stop, *self._runtime.closers, self._meter.flush)

    def cancel(self) -> None:
        """Write nothing more, although the task's thread hangs; called by another thread."""
        self._runtime.sender.drop()

    def _poll_and_deliver(self) -> None:
        """Poll once and deliver what came."""
        runtime = self._runtime
        self._context.waited = False
        with failing(Stage.TASK_POLL):
            batch = self._poll()
        with failing(Stage.KAFKA_PRODUCE):
            if batch is not None and len(batch) > 0:
                with runtime.calls("deliver"):
                    self._delivery.deliver(batch)
            elif not self._context.waited:
                self._delivery.wait(_EMPTY_POLL_PAUSE_SECONDS)
            runtime.failures.check()

    def _poll(self) -> Batch | None:
        began, calls = self._runtime.clock(), self._runtime.calls
        try:
            with calls("poll"):
                batch = self._runtime.task.poll()
        except RetriableError as error:
            calls.failed("poll", error)
            _log.warning(
                "The source is not available now, polling again in %.1f s: %s", self._retry_delay, error
            )
            self._context.wait(self._retry_delay)
            self._retry_delay = min(self._retry_delay * 2, _MAX_RETRY_DELAY_SECONDS)
            return None
        calls.worked("poll")
        self._retry_delay = _FIRST_RETRY_DELAY_SECONDS
        if batch is not None:
            self._meter.polled(len(batch), began)
        return batch


class _RunningSourceContext:
    """The context of a running source task (`SourceTaskContext`)."""

    def __init__(self, runtime: SourceRuntime, delivery: SourceDelivery) -> None:
        self._runtime = runtime
        self._delivery = delivery
        self.waited = False

    @property
    def transaction(self) -> TransactionContext | None:
        """Transaction boundaries; None unless the connector defines them itself."""
        return self._delivery.transaction

    def configs(self) -> Mapping[str, str]:
        """Return the task's configuration, placeholders resolved."""
        return self._runtime.config

    def offset(self, partition: SourcePartition) -> SourceOffset | None:
        """Ask the offset service for one offset; blocks."""
        return self.offsets([partition])[0]

    def offsets(self, partitions: Sequence[SourcePartition]) -> list[SourceOffset | None]:
        """Ask the offset service for several offsets; blocks until it answers.

        Raises:
            DrainedError: The task must end.
        """
        keys = [partition_key(partition) for partition in partitions]
        runtime = self._runtime
        found = until_answered(
            lambda: runtime.link.source_offsets(keys),
            runtime.calls,
            self._delivery.wait,
            what="offsets",
            complaint="Offsets cannot be read now",
        )
        runtime.commits.note_read(dict(zip(keys, found, strict=True)))
        return [from_json(text) for text in found]

    def waiting(self, reason: str | None) -> None:
        """Note what the task waits for, or that it waits no longer."""
        self._runtime.calls.wait_for(reason)

    def wait(self, seconds: float) -> bool:
        """Wait; the engine commits offsets meanwhile."""
        self.waited = True
        return self._runtime.calls.rest(self._delivery.wait, seconds)


class _SourceMeter:
    """Measures one run of a source task, batch by batch, and reports each second."""

    def __init__(self, runtime: SourceRuntime) -> None:
        self._runtime = runtime
        self._measures = runtime.measures
        self._written = 0

    def polled(self, records: int, began: float) -> None:
        """Note a poll that returned a batch; `began` is the clock's time."""
        measures = self._measures
        measures.note("poll-batch-time-ms", (measures.clock() - began) * 1000)
        measures.note("source-record-poll", records)
        measures.note("batch-size", records)

    def report(self, *, now: bool = False) -> None:
        """Report what is new, if a report is due or wanted now."""
        measures = self._measures
        if not (now or measures.due(_REPORT_INTERVAL_SECONDS)):
            return
        written, active = self._runtime.progress()
        if written > self._written:
            measures.note("source-record-write", written - self._written)
            self._written = written
        measures.note_state("source-record-active-count", active)
        self.flush()

    def flush(self) -> None:
        """Report what was noted already, e.g. when everything is closed."""
        self._runtime.link.measured(self._measures.take())
