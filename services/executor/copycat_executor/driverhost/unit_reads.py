"""The units that are to be read, and those that Spark reads now: how many at once, and what is read again.

Exactly once, a unit is committed with its offset in a transaction of the partition that reads it. Its
transactional id is one of `LANES`, chosen by the unit's source partition, so that whoever reads the unit
next, however many are read at once then, fences whoever read it before, and asks for the offset after that.
"""

from __future__ import annotations

import logging
import pickle
import zlib
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from copycat_connect.errors import ConnectError
from copycat_connect.plugin import RowQuery, SparkSourceTask, SparkUnit
from copycat_connect.plugin.contexts import SourceOffset

from copycat_executor.driverhost.service_questions import DriverLine
from copycat_executor.driverhost.unit_work import UnitReport, UnitWork
from copycat_executor.pipeline.source.source_offsets import partition_key
from copycat_executor.pipeline.task.control import TaskControl
from copycat_executor.spark.unit_jobs import UnitLostError, Work
from copycat_executor.taskhost.order import TaskOrder

_log = logging.getLogger(__name__)

#: How many transactional ids a connector has; never to be changed, or units change theirs.
LANES: Final = 64
#: A unit whose partition is lost is read again, so often in all: its process may have been the victim.
_TRIES: Final = 3
Fence = Callable[[TaskOrder, int, TaskControl], None]
"""Ends whoever writes for a task under the number of a transactional id."""


class Jobs(Protocol):
    """Runs jobs of one partition in a Spark session (`UnitJobs`)."""

    @property
    def session(self) -> Any:  # noqa: ANN401 - Spark's
        """The Spark session of this driver, in which units are made to frames."""

    def run(
        self, frame: Callable[[], Any], query: RowQuery | None, work: Work, tag: str, *, repeatable: bool
    ) -> bytes:
        """Read a DataFrame in one partition and return the report of the work on its rows; blocks.

        Args:
            frame: Makes the DataFrame.
            query: What is made of its rows first.
            work: What is done with them.
            tag: Cancels it.
            repeatable: Whether the query has to give the same each time.

        Raises:
            ConfigError: The query is refused.
            ConnectError: Spark refuses to read it.
            UnitLostError: The job failed or was cancelled.
        """

    def cancel(self, tag: str) -> None:
        """End the jobs of a tag."""


@dataclass(slots=True)
class PlannedUnit:
    """A unit that is to be read."""

    unit: SparkUnit
    offset: SourceOffset | None
    """The committed one when it was planned."""
    lane: int = field(init=False)
    """The number in the transactional id of who reads it."""
    tries: int = 0
    """How often it was lost."""

    def __post_init__(self) -> None:
        self.lane = zlib.crc32(partition_key(self.unit.partition)) % LANES


class UnitReads:
    """Has Spark read units, each in a thread that waits for it; called by the task's thread."""

    def __init__(
        self,
        order: TaskOrder,
        task: SparkSourceTask,
        jobs: Jobs,
        *,
        slots: int,
        control: TaskControl,
        line: DriverLine | None,
        fence: Fence,
        failed_plugins: tuple[tuple[str, str], ...],
    ) -> None:
        """Read so many units at once (`slots`); without `line` delivery is at least once."""
        self._order, self._task, self._jobs = order, task, jobs
        self._slots, self._control = slots, control
        self._line, self._fence = line, fence
        self._failed_plugins = failed_plugins
        self._threads = ThreadPoolExecutor(slots, thread_name_prefix="unit")
        self._tag = f"copycat:{order.task_id}"
        self._waiting: deque[PlannedUnit] = deque()
        self._reading: dict[Future[UnitReport], PlannedUnit] = {}

    @property
    def waiting(self) -> bool:
        """Whether there are units that are not being read yet."""
        return bool(self._waiting)

    @property
    def under_way(self) -> int:
        """How many units are being read."""
        return len(self._reading)

    def add(self, planned: PlannedUnit) -> None:
        """Have a unit read after those that were added before."""
        self._waiting.append(planned)

    def begin(self) -> bool:
        """Begin to read units, none beside another of its lane; returns whether any was begun."""
        busy = {planned.lane for planned in self._reading.values()}
        held: list[PlannedUnit] = []
        begun = False
        while self._waiting and len(self._reading) < self._slots:
            planned = self._waiting.popleft()
            if planned.lane in busy:
                held.append(planned)
                continue
            busy.add(planned.lane)
            self._reading[self._threads.submit(self._read, planned)] = planned
            begun = True
        self._waiting.extendleft(reversed(held))
        return begun

    def rest(self, seconds: float) -> bool:
        """Wait until a unit is read, the time is over or the task must end; True when it must."""
        if self._reading:
            wait(self._reading, seconds, FIRST_COMPLETED)
        else:
            self._control.wait(seconds)
        return self._control.stopping

    def finished(self) -> Iterator[tuple[SparkUnit, UnitReport]]:
        """Yield what was read since the last call; what was lost is read again.

        Raises:
            ConnectError: Spark cannot read a unit.
        """
        for future in [each for each in self._reading if each.done()]:
            planned = self._reading.pop(future)
            try:
                report = future.result()
            except UnitLostError as error:
                self._lost(planned, error)
            else:
                yield planned.unit, report

    def end(self, seconds: float, *, failed: bool) -> list[UnitReport]:
        """Let units that are nearly read come to their end, and cancel the others; returns their reports."""
        part = seconds / 3
        if not failed:
            wait(self._reading, part)
        if any(not future.done() for future in self._reading):
            self._jobs.cancel(self._tag)
            wait(self._reading, part)
        reports: list[UnitReport] = []
        cancelled: list[int] = []
        for future in [each for each in self._reading if each.done()]:
            planned = self._reading.pop(future)
            if future.exception() is None:
                reports.append(future.result())
            else:
                cancelled.append(planned.lane)
        if self._line is not None:
            # Whoever reads the topics does not wait for the time-out of what was cancelled.
            ends = [self._threads.submit(self._fence, self._order, lane, self._control) for lane in cancelled]
            wait(ends, part)
        return reports

    def cancel(self) -> None:
        """End what is being read; called by another thread, too."""
        if self._reading:
            self._jobs.cancel(self._tag)

    def close(self) -> None:
        """End what is being read, and read nothing more."""
        self.cancel()
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _lost(self, planned: PlannedUnit, error: UnitLostError) -> None:
        planned.tries += 1
        if planned.tries >= _TRIES:
            raise ConnectError(f"Spark could not read {planned.unit.name}: {error}") from error
        _log.warning("%s is read again, its partition of Spark was lost: %s", planned.unit.name, error)
        self._waiting.appendleft(planned)

    def _read(self, planned: PlannedUnit) -> UnitReport:
        """Read a unit, in a thread of its own."""
        work = UnitWork(
            command=self._order.command,
            unit=planned.unit,
            offset=planned.offset,
            line=self._line,
            producer=planned.lane,
            failed_plugins=self._failed_plugins,
            log_level=logging.getLevelName(logging.getLogger().level),
        )
        session, unit, task = self._jobs.session, planned.unit, self._task
        exact = self._line is not None
        written = self._jobs.run(
            lambda: task.frame(session, unit), task.query, work, self._tag, repeatable=exact
        )
        report: UnitReport = pickle.loads(written)  # noqa: S301 - our own process has written it
        return report
