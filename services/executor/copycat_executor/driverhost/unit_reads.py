"""The units that are to be read, and those that Spark reads now: how many at once, and what is read again.

Small units are read in groups, one partition for each. Exactly once, units are committed with their offsets
in a transaction of the partition that reads them. Its transactional id is one of `LANES`, chosen by a unit's
source partition and the same for all of a group, so that whoever reads a unit next, however many are read at
once and in which group, fences whoever read it before, and asks for the offset after that.

A mark has no rows: its offset is committed when all units planned before it are, and before those behind it.
"""

from __future__ import annotations

import logging
import pickle
import zlib
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, Protocol

from copycat_connect.errors import ConnectError, RetriableError
from copycat_connect.plugin import RowQuery, SparkSourceTask, SparkUnit
from copycat_connect.plugin.contexts import SourceOffset

from copycat_executor.driverhost.partition_work import root_level
from copycat_executor.driverhost.service_questions import DriverLine
from copycat_executor.driverhost.unit_work import UnitReport, UnitWork
from copycat_executor.pipeline.source.source_offsets import partition_key
from copycat_executor.pipeline.task.control import TaskControl
from copycat_executor.spark.unit_jobs import UnitLostError, Work
from copycat_executor.taskhost.order import TaskOrder

_log = logging.getLogger(__name__)

#: How many transactional ids a connector has; never to be changed, or units change theirs.
LANES: Final = 64
#: What one partition reads of small units, at most: a second or two.
GROUP_BYTES: Final = 16 << 20
#: What a unit counts for at least, since it takes time to open.
_LEAST_BYTES: Final = 64 << 10
#: A unit whose partition is lost is read again, so often in all: its process may have been the victim.
_TRIES: Final = 3
Fence = Callable[[TaskOrder, int, TaskControl], None]
"""Ends whoever writes for a task under the number of a transactional id."""


class PartitionJobs(Protocol):
    """Runs jobs of one partition in a Spark session (`UnitJobs`)."""

    @property
    def session(self) -> Any:  # noqa: ANN401 - Spark's
        """The Spark session of this driver, in which units are made to frames."""

    @property
    def addresses(self) -> tuple[str, str]:
        """The address on which this driver listens, and the one at which its partitions reach it."""

    def run(
        self, begin: Callable[[], tuple[Any, Work]], query: RowQuery | None, tag: str, *, repeatable: bool
    ) -> bytes:
        """Read a DataFrame in one partition and return the report of the work on its rows; blocks.

        Args:
            begin: Makes the DataFrame, and what is done with its rows; without one that is done here.
            query: What is made of them first.
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

    @property
    def weight(self) -> int:
        """What it counts for in a group."""
        return max(self.unit.size or 0, _LEAST_BYTES)

    @property
    def may_join(self) -> bool:
        """Whether it may be read with others; what was lost may be what ends partitions, so it may not."""
        return self.unit.size is not None and not self.tries


@dataclass(slots=True)
class _Group:
    """Units that one partition reads."""

    planned: list[PlannedUnit]
    """At first all that it might read; when it is read, those that it did."""
    left: list[PlannedUnit] = field(default_factory=list)
    """Those that could not be read with the others."""

    @property
    def lane(self) -> int:
        """The number in the transactional id of who reads it."""
        return self.planned[0].lane

    @property
    def units(self) -> list[SparkUnit]:
        return [each.unit for each in self.planned]

    @property
    def is_mark(self) -> bool:
        """Whether it has no rows, and nothing else may be read beside it."""
        return self.planned[0].unit.is_mark

    def cut(self, count: int) -> None:
        """Leave all units but the first ones."""
        self.planned, self.left = self.planned[:count], self.planned[count:]


class UnitReads:
    """Has Spark read units, each in a thread that waits for it; called by the task's thread."""

    def __init__(
        self,
        order: TaskOrder,
        task: SparkSourceTask,
        jobs: PartitionJobs,
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
        self._waiting_bytes = 0
        self._reading: dict[Future[UnitReport], _Group] = {}

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
        self._waiting_bytes += planned.weight

    def begin(self) -> bool:
        """Begin to read units, none beside another of its lane; returns whether any was begun."""
        busy = {group.lane for group in self._reading.values()}
        held: list[PlannedUnit] = []
        begun, waits = False, any(group.is_mark for group in self._reading.values())
        while self._waiting and len(self._reading) < self._slots and not waits:
            planned = self._waiting.popleft()
            waits = planned.unit.is_mark
            if planned.lane in busy or (waits and (self._reading or held)):
                held.append(planned)
                continue
            busy.add(planned.lane)
            group = _Group(self._joined_by_others(planned))
            self._waiting_bytes -= sum(each.weight for each in group.planned)
            self._reading[self._threads.submit(self._read, group)] = group
            begun = True
        self._waiting.extendleft(reversed(held))
        return begun

    def _joined_by_others(self, first: PlannedUnit) -> list[PlannedUnit]:
        """Add units that are read with one, no more than leaves enough for the other partitions."""
        room = min(GROUP_BYTES, self._waiting_bytes // self._slots) - first.weight
        group, passed = [first], list[PlannedUnit]()
        while first.may_join and room >= _LEAST_BYTES and self._waiting:
            if self._waiting[0].unit.is_mark:
                break
            planned = self._waiting.popleft()
            is_of_lane = self._line is None or planned.lane == first.lane
            if planned.may_join and is_of_lane and planned.weight <= room:
                group.append(planned)
                room -= planned.weight
            else:
                passed.append(planned)
        self._waiting.extendleft(reversed(passed))
        return group

    def rest(self, seconds: float) -> bool:
        """Wait until a unit is read, the time is over or the task must end; True when it must."""
        if self._reading:
            wait(self._reading, seconds, FIRST_COMPLETED)
        else:
            self._control.wait(seconds)
        return self._control.stopping

    def finished(self) -> Iterator[tuple[Sequence[SparkUnit], UnitReport]]:
        """Yield what was read since the last call; what was lost is read again.

        Raises:
            RetriableError: A unit cannot be read now; it is read again.
            ConnectError: Spark cannot read a unit.
        """
        for future in [each for each in self._reading if each.done()]:
            group = self._reading.pop(future)
            self._again(group.left)
            try:
                report = future.result()
            except UnitLostError as error:
                self._lost(group, error)
            except RetriableError:
                self._again(group.planned)
                raise
            else:
                yield group.units, report

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
            group = self._reading.pop(future)
            if future.exception() is None:
                reports.append(future.result())
            else:
                cancelled.append(group.lane)
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

    def _lost(self, group: _Group, error: UnitLostError) -> None:
        for planned in group.planned:
            planned.tries += 1
            if planned.tries >= _TRIES:
                raise ConnectError(f"Spark could not read {planned.unit.name}: {error}") from error
        _log.warning("Reading %s again, its partition of Spark was lost: %s", names_of(group.units), error)
        self._again(group.planned)

    def _again(self, planned: Sequence[PlannedUnit]) -> None:
        self._waiting.extendleft(reversed(planned))
        self._waiting_bytes += sum(each.weight for each in planned)

    def _read(self, group: _Group) -> UnitReport:
        """Read units, in a thread of its own."""
        task, exact = self._task, self._line is not None
        written = self._jobs.run(partial(self._begin_job, group), task.query, self._tag, repeatable=exact)
        report: UnitReport = pickle.loads(written)  # noqa: S301 - our own process has written it
        return report

    def _begin_job(self, group: _Group) -> tuple[Any, UnitWork]:
        """Make a frame of the units of a group that can be read as one; None of a mark."""
        frame = None
        if not group.is_mark:
            frame, count = self._task.frame(self._jobs.session, group.units)
            group.cut(count)
        work = UnitWork(
            command=self._order.command,
            units=group.units,
            offsets=[each.offset for each in group.planned],
            line=self._line,
            producer=group.lane,
            failed_plugins=self._failed_plugins,
            log_level=root_level(),
        )
        return frame, work


def names_of(units: Sequence[SparkUnit]) -> str:
    """Return what users call units, the first one where there are many."""
    first = units[0].name
    return first if len(units) == 1 else f"{first} and {len(units) - 1} more"
