"""The rounds of one source task: poll, deliver, commit."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Final

from copycat_connect.errors import RetriableError

from copycat_executor.pipeline.source.path import Batch
from copycat_executor.pipeline.source.source_context import RunningSourceContext
from copycat_executor.pipeline.source.source_delivery import SourceDelivery
from copycat_executor.pipeline.source.source_meter import SourceMeter
from copycat_executor.pipeline.source.source_parts import SourceParts
from copycat_executor.pipeline.task.control import Settlement
from copycat_executor.pipeline.task.stages import Stage, failing

_log = logging.getLogger(__name__)

#: After a poll without records by a task that does not wait itself.
_EMPTY_POLL_PAUSE_SECONDS: Final = 0.05
#: A paused task looks this often whether a commit is due; a resume wakes it at once.
_PAUSED_CHECK_SECONDS: Final = 1.0
_FIRST_RETRY_DELAY_SECONDS: Final = 0.1
_MAX_RETRY_DELAY_SECONDS: Final = 5.0


class SourceSteps:
    """What a source task does in each part of its run (`TaskSteps`)."""

    def __init__(
        self, parts: SourceParts, delivery: SourceDelivery, meter: SourceMeter, clock: Callable[[], float]
    ) -> None:
        self._parts = parts
        self._clock = clock
        self._meter = meter
        self._delivery = delivery
        self._context = RunningSourceContext(
            lambda: parts.config,
            parts.link,
            delivery.wait,
            delivery.transaction,
            parts.commits.told,
            calls=parts.calls,
        )
        self._paused = False
        self._retry_delay = _FIRST_RETRY_DELAY_SECONDS

    def start(self, *, paused: bool) -> None:
        """Initialize and start the task."""
        self._paused = paused
        with self._parts.calls("start"):
            self._delivery.prepare()
            self._parts.task.initialize(self._context)
            self._parts.task.start(self._parts.config)

    def set_paused(self, paused: bool) -> None:
        """Poll no more, or again; commits go on."""
        self._paused = paused
        if paused:
            with failing(Stage.FLUSH):
                self._delivery.pause()

    def go_round(self) -> None:
        """Poll and deliver once, unless paused or behind, and commit what is due."""
        if self._paused:
            self._parts.control.wait_for_news(_PAUSED_CHECK_SECONDS)
        elif not self._delivery.behind:
            self._move()
        with failing(Stage.FLUSH), self._parts.calls("commit offsets"):
            self._delivery.commit_if_due()

    def settle(self, settlements: Sequence[Settlement]) -> None:
        """Take note of the fate of acknowledgements."""
        self._delivery.settle(settlements)

    def commit_last(self, *, failed: bool) -> None:
        """Commit what can be made durable, for the last time."""
        self._delivery.commit_last(failed=failed)

    @property
    def unsettled(self) -> bool:
        """True while the fate of an acknowledgement is open."""
        return self._delivery.unsettled

    def report_measures(self, *, now: bool = False) -> None:
        """Report what was measured, if a report is due or wanted now."""
        self._meter.report(now=now)

    def closers(self) -> Sequence[Callable[[], None]]:
        """Return what ends the run: the task's `stop`, then what it ran with."""
        return (self._parts.task.stop, *self._parts.closers, self._meter.flush)

    def cancel(self) -> None:
        """Write nothing more, although the task's thread hangs; called by another thread."""
        self._parts.sender.drop()

    def _move(self) -> None:
        """Poll once and deliver what came."""
        parts = self._parts
        self._context.waited = False
        with failing(Stage.TASK_POLL):
            batch = self._poll()
        with failing(Stage.KAFKA_PRODUCE):
            if batch is not None and len(batch) > 0:
                with parts.calls("deliver"):
                    self._delivery.deliver(batch)
            elif not self._context.waited:
                self._delivery.wait(_EMPTY_POLL_PAUSE_SECONDS)
            parts.failures.check()

    def _poll(self) -> Batch | None:
        began, calls = self._clock(), self._parts.calls
        try:
            with calls("poll"):
                batch = self._parts.task.poll()
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
