"""The frame of a run, for source and sink tasks: start, go round until stopped, last commit, close."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Final, Protocol

from copycat_executor.pipeline.task.control import Settlement, TaskControl
from copycat_executor.pipeline.task.failures import log_failure
from copycat_executor.pipeline.task.stages import (
    DrainedError,
    Stage,
    StaleTaskError,
    TaskFailedError,
    failing,
)
from copycat_executor.pipeline.task.task_link import ReportedState, TaskLink

_log = logging.getLogger(__name__)

#: The last commit looks this often whether it was answered or its time is over.
_SETTLEMENT_CHECK_SECONDS: Final = 0.1


class TaskSteps(Protocol):
    """What differs between a source and a sink task; all but `cancel` is called by the task's thread.

    Any of them may raise `TaskFailedError`, or `DrainedError` when the task must end while it waits.
    """

    def start(self, *, paused: bool) -> None:
        """Initialize and start the task; what it raises fails the task at stage START."""

    def set_paused(self, paused: bool) -> None:
        """Note a pause or resume, before it is reported."""

    def go_round(self) -> None:
        """Do one round: move a batch or rest for a moment, commit what is due."""

    def settle(self, settlements: Sequence[Settlement]) -> None:
        """Note what became of acknowledgements, none of which is stale."""

    def commit_last(self, *, failed: bool) -> None:
        """Acknowledge what can be made durable, for the last time; `failed` when the task failed."""

    @property
    def unsettled(self) -> bool:
        """True while the fate of an acknowledgement is open."""

    def report_measures(self, *, now: bool = False) -> None:
        """Report what was measured, if a report is due or wanted now."""

    def closers(self) -> Sequence[Callable[[], None]]:
        """Return what to call at the end, in order; each is called although one before it raised."""

    def cancel(self) -> None:
        """Prevent harm from a thread that hangs in the task; called by another thread."""


class TaskFrame:
    """One run of one task, from its start to its stop; used by one thread."""

    def __init__(
        self,
        steps: TaskSteps,
        control: TaskControl,
        link: TaskLink,
        last_commit_seconds: float,
        *,
        clock: Callable[[], float],
        tidy: Callable[[], None],
    ) -> None:
        """Compose the run; `tidy` collects garbage and is called where a pause does no harm."""
        self._steps = steps
        self._control = control
        self._link = link
        self._last_commit_seconds = last_commit_seconds
        self._clock = clock
        self._tidy = tidy
        self._paused = False

    def run(self, starting: AbstractContextManager[object] | None = None) -> None:
        """Run until stopped; blocks. `starting` is entered while the task starts.

        Raises:
            TaskFailedError: The task failed; everything is closed.
            StaleTaskError: A newer generation of the task exists; everything is closed.
        """
        try:
            with starting or nullcontext():
                self._start()
            try:
                self._loop()
            except TaskFailedError:
                self._commit_last(failed=True)
                raise
            self._commit_last(failed=False)
        except DrainedError:
            _log.info("The task was told to end before it had started")
        finally:
            self._close()

    def cancel(self) -> None:
        """Prevent harm from a thread that hangs in the task; called by another thread."""
        self._steps.cancel()

    def _start(self) -> None:
        self._paused = self._control.paused
        if self._paused:
            self._link.state(ReportedState.PAUSED)
        with failing(Stage.START):
            self._steps.start(paused=self._paused)
        self._tidy()
        if not self._paused:
            self._link.state(ReportedState.RUNNING)

    def _loop(self) -> None:
        control, steps = self._control, self._steps
        try:
            while not control.stopping:
                self._settle()
                steps.report_measures()
                if control.paused is not self._paused:
                    self._paused = control.paused
                    steps.set_paused(self._paused)
                    self._link.state(ReportedState.PAUSED if self._paused else ReportedState.RUNNING)
                steps.go_round()
        except DrainedError:
            return

    def _settle(self) -> None:
        settlements = self._control.take_settlements()
        if any(settlement.stale for settlement in settlements):
            raise StaleTaskError
        if settlements:
            self._steps.settle(settlements)

    def _commit_last(self, *, failed: bool) -> None:
        """Acknowledge for the last time and wait for the answer, while a drain leaves time for it."""
        control, steps = self._control, self._steps
        if control.dropped:
            return
        until = self._clock() + self._last_commit_seconds
        try:
            steps.commit_last(failed=failed)
            while steps.unsettled and not control.dropped and self._clock() < until:
                control.wait_for_news(_SETTLEMENT_CHECK_SECONDS)
                self._settle()
        except StaleTaskError:
            raise
        except BaseException as error:
            message = "The last offset commit failed; records since the one before will be repeated"
            log_failure(_log, message, error)

    def _close(self) -> None:
        for close in (lambda: self._steps.report_measures(now=True), *self._steps.closers()):
            try:
                close()
            except BaseException as error:
                log_failure(_log, "A part of the task did not close", error)
