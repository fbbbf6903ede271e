"""The run of a query with state: which state counts, and what becomes durable with each of its batches.

Spark keeps the state, in a folder of its own for each epoch. What counts is the offset of the query: its
epoch, its newest batch, and where each partition goes on behind that. A folder that does not agree with it is
no state of this query. Each part of the state (slot) writes its rows of a batch with the batch's number, and
the number of the query follows when all have: a batch that is run again is written where it was not.
"""

from __future__ import annotations

import logging
import pickle
import queue
import threading
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, Protocol

from copycat_connect.errors import ConnectError, OffsetLostError, RetriableError
from copycat_connect.plugin import SparkStream, SparkUnit, StreamBatch, TopicRows
from copycat_connect.plugin.contexts import SourceOffset
from copycat_connect.plugin.spark import BATCH, EPOCH, SLOT

from copycat_executor.driverhost.partition_work import PartitionFailure, fail_as, root_level
from copycat_executor.driverhost.service_questions import DriverLine, ServiceQuestions
from copycat_executor.driverhost.unit_work import DeliveredUnits, UnitReport, UnitWork
from copycat_executor.pipeline.task.call_log import CallLog
from copycat_executor.pipeline.task.control import TaskControl
from copycat_executor.pipeline.task.stages import Stage, StaleTaskError, failing
from copycat_executor.spark.state_queries import QuerySettings, StateFolders
from copycat_executor.spark.topic_streams import name_of, partition_of
from copycat_executor.spark.unit_jobs import UnitLostError, Work
from copycat_executor.taskhost.order import TaskOrder

_log = logging.getLogger(__name__)

#: The number in the transactional id of the query as a whole; those before it are for the slots.
QUERY_LANE: Final = 63
_LOOK_SECONDS: Final = 0.1
_RETRY_SECONDS: Final = 1.0
#: A query that was lost is started again, so often in a row; its processes may have been the victims.
_TRIES: Final = 3
_WAY_OUT: Final = "Stop the connector and reset its offsets (DELETE offsets) to begin with an empty state"
Fence = Callable[[TaskOrder, int, TaskControl], None]


class RunningQueries(Protocol):
    """Runs the query of a driver (`StateQueries`)."""

    def state_folders(self, address: str) -> StateFolders:
        """Return the folders of states below an address."""

    def start(
        self,
        sql: str,
        tables: Callable[[Any], None],
        settings: QuerySettings,
        each: Callable[[Any, int], None],
        *,
        repeatable: bool,
    ) -> None:
        """Start the query; see `StateQueries`."""

    def renew(self, read: Callable[[Any], bool], tag: str) -> bool:
        """Read anew what the query reads besides topics; see `SparkStream.renew`. The tag cancels it."""

    def ended(self) -> str | None:
        """Return why the query has ended by itself; None while it runs."""

    def stop(self) -> None:
        """End the query; blocks until its batch has ended, too."""

    def run(self, rows: Any, works: Sequence[Work], tag: str) -> list[bytes]:  # noqa: ANN401 - Spark's
        """Have each part of a batch's rows worked on; see `StateQueries`."""

    def cancel(self, tag: str) -> None:
        """End the jobs of a tag."""


@dataclass(frozen=True, slots=True)
class StreamWorks:
    """Makes what is done in the partitions of a batch."""

    order: TaskOrder
    line: DriverLine | None
    failed_plugins: tuple[tuple[str, str], ...]

    def of(self, unit: SparkUnit, lane: int) -> UnitWork:
        """Return the work of a slot, or of the query as a whole."""
        command, plugins = self.order.command, self.failed_plugins
        return UnitWork(command, [unit], [None], self.line, lane, plugins, root_level())


@dataclass(slots=True)
class _Delivered:
    """A batch that is delivered, and waits until that is committed."""

    reports: list[UnitReport]
    committed: threading.Event = field(default_factory=threading.Event)


class StreamRun:
    """Runs a query; called by the task's thread, but for what Spark calls for each batch."""

    def __init__(
        self,
        stream: SparkStream,
        works: StreamWorks,
        queries: RunningQueries,
        *,
        topics: TopicRows,
        questions: ServiceQuestions,
        delivered: DeliveredUnits,
        control: TaskControl,
        calls: CallLog,
        fence: Fence,
    ) -> None:
        """Compose; nothing is started."""
        self._stream, self._works, self._queries = stream, works, queries
        self._topics, self._questions, self._delivered = topics, questions, delivered
        self._control, self._calls, self._fence = control, calls, fence
        self._tag = f"copycat:{works.order.task_id}"
        self._folders = queries.state_folders(f"{stream.state_url.rstrip('/')}/{works.order.connector}")
        self._batch: StreamBatch | None = None
        """The newest one that is committed."""
        self._running = False
        self._renewal = 0.0
        """When to read anew what the query reads besides, time of the clock."""
        self._ending = threading.Event()
        self._in_batch = threading.Event()
        self._finished: queue.SimpleQueue[_Delivered] = queue.SimpleQueue()
        self._current: _Delivered | None = None
        self._failure: PartitionFailure | None = None
        self._error: ConnectError | None = None
        self._stale = False
        self._tries = 0

    def go_round(self, *, paused: bool) -> None:
        """Start the query or end it, and commit what it has delivered.

        Raises:
            TaskFailedError: It failed.
            StaleTaskError: A newer generation of the task exists.
        """
        self._check()
        if self._current is not None:
            self._let_go_on()
        elif not self._running:
            if paused:
                self._control.wait_for_news(_LOOK_SECONDS)
            else:
                self._begin()
        elif (why := self._queries.ended()) is not None:
            self._lost(why)
        elif not self._in_batch.is_set() and (paused or self._is_outdated()):
            self._stop()
        else:
            self._take(_LOOK_SECONDS)

    def end(self, seconds: float, *, failed: bool) -> None:
        """Let a batch that is nearly done come to its end, and end the query."""
        if not self._running:
            return
        clock = self._calls.clock
        until = clock() + seconds / 2
        while not failed and self._in_batch.is_set() and self._current is None and clock() < until:
            self._take(_LOOK_SECONDS)
        unfinished = self._in_batch.is_set() and self._current is None
        self._stop()
        if unfinished and self._works.line is not None:
            # Whoever reads the topics does not wait for the time-out of what was cancelled.
            for slot in range(self._stream.slots):
                self._fence(self._works.order, slot, self._control)

    def cancel(self) -> None:
        """End what is under way; called by another thread, too."""
        self._ending.set()
        self._queries.cancel(self._tag)

    def _check(self) -> None:
        if self._stale:
            raise StaleTaskError
        if self._failure is not None:
            fail_as(self._failure, "ran the query")
        if self._error is not None:
            with failing(Stage.TASK_POLL):
                raise self._error

    def _begin(self) -> None:
        """Find the state that counts, or begin a new one, then start the query."""
        with failing(Stage.START):
            try:
                if self._batch is None:
                    self._batch = self._agreed(self._questions.offsets([self._stream.partition])[0])
                elif not self._delivered.is_settled:
                    self._delivered.acknowledge()
                    self._control.wait_for_news(_LOOK_SECONDS)
                else:
                    self._start(self._batch)
                    self._calls.worked("plan")
            except RetriableError as error:
                self._calls.failed("plan", error)
                self._control.wait(_RETRY_SECONDS)

    def _is_outdated(self) -> bool:
        """Return whether the query has to begin again to see what it reads besides topics."""
        with failing(Stage.TASK_POLL):
            try:
                return self._renew()
            except RetriableError:
                return True  # as it begins it waits until that can be read

    def _renew(self) -> bool:
        """Read that anew where it is due, and return whether it has changed."""
        renew, clock = self._stream.renew, self._calls.clock
        if renew is None or clock() < self._renewal:
            return False
        with self._calls("tables"):
            changed = self._queries.renew(renew, self._tag)
        self._renewal = clock() + self._stream.renew_seconds
        return changed

    def _agreed(self, offset: SourceOffset | None) -> StreamBatch | None:
        """Return the batch behind which to go on; None while topics are missing.

        Raises:
            OffsetLostError: The state is gone, or not that of the offset.
        """
        if offset is not None and EPOCH in offset:
            batch = _batch_of(offset)
            if self._is_of(batch):
                return batch
        return self._new_state({} if offset is None else _positions(offset))

    def _is_of(self, batch: StreamBatch) -> bool:
        """Return whether the state of an epoch is that behind a batch; False where a user moved positions."""
        planned = self._folders.newest(batch.epoch, "offsets")
        done = self._folders.newest(batch.epoch, "commits")
        number = batch.number
        if number < 0:
            if done < 0:
                return True
        elif (
            number in {planned, planned - 1}
            and self._folders.positions(batch.epoch, number) != batch.positions
        ):
            return False
        elif number in {planned, planned - 1} and number in {done, done + 1}:
            return True
        folder = self._folders.folder(batch.epoch)
        found = f"is at batch {done}" if planned >= 0 else "is not there"
        raise OffsetLostError(
            f"The state in {folder} {found}, the offset of the query at batch {number}: it is not the state "
            f"of this query any more. {_WAY_OUT}"
        )

    def _new_state(self, positions: Mapping[str, int]) -> StreamBatch | None:
        read = {partition_of(name): offset for name, offset in positions.items()}
        bounds = self._topics.bounds(self._stream.topics, read)
        if {partition.topic for partition in bounds} < set(self._stream.topics):
            self._control.wait(_RETRY_SECONDS)
            return None
        begin = {name_of(each): read.get(each, low) for each, (low, _) in bounds.items()}
        # Names of epochs have the order of their beginnings.
        epoch = f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{uuid.uuid4().hex[:8]}"
        _log.info("The query begins with an empty state, %s", self._folders.folder(epoch))
        self._folders.keep(epoch)
        first = StreamBatch(epoch, -1, begin)
        self._delivered.note(self._report(self._works.of(self._unit(first), QUERY_LANE).report(iter(()))))
        self._delivered.acknowledge()
        return first

    def _start(self, batch: StreamBatch) -> None:
        begin = {partition_of(name): offset for name, offset in (batch.positions or {}).items()}
        self._ending.clear()
        stream = self._stream
        self._renew()
        with self._calls("query"):
            self._queries.start(
                stream.sql,
                lambda session: stream.tables(session, begin),
                QuerySettings(
                    self._folders.folder(batch.epoch), stream.slots, stream.mode, stream.interval_seconds
                ),
                self._each,
                repeatable=self._works.line is not None,
            )
        self._running = True

    def _stop(self) -> None:
        self.cancel()
        self._queries.stop()
        self._running, self._batch = False, None

    def _lost(self, why: str) -> None:
        """Start the query again.

        Raises:
            TaskFailedError: It was lost too often.
        """
        self._running, self._batch = False, None
        if self._failure is not None or self._stale or self._error is not None:
            return  # the next round says so
        self._tries += 1
        if self._tries >= _TRIES:
            with failing(Stage.TASK_POLL):
                text = f"Spark could not run the query: {why}"
                raise OffsetLostError(f"{text} {_WAY_OUT}") if "STATE_STORE" in why else ConnectError(text)
        _log.warning("The query is started again: %s", why)
        self._calls.failed("query", why)
        self._control.wait(_RETRY_SECONDS)

    def _take(self, seconds: float) -> None:
        """Note what the next batch has delivered, if it comes in time."""
        try:
            self._current = self._finished.get(timeout=seconds)
        except queue.Empty:
            return
        for report in self._current.reports:
            self._delivered.note(report)
        self._delivered.acknowledge()

    def _let_go_on(self) -> None:
        """Have Spark go on behind a batch that is committed."""
        if not self._delivered.is_settled:
            self._delivered.acknowledge()
            self._control.wait_for_news(_LOOK_SECONDS)
            return
        assert self._current is not None  # whoever calls has looked
        self._current.committed.set()
        self._current = None
        self._tries = 0
        self._calls.worked("query")
        if self._is_outdated():
            self._stop()

    def _each(self, rows: Any, number: int) -> None:  # noqa: ANN401 - Spark's
        """Deliver a batch, and wait until that is committed; called by a thread of Spark's."""
        self._in_batch.set()
        try:
            self._deliver(rows, number)
        except ConnectError as error:
            self._error = error
            raise
        finally:
            self._in_batch.clear()

    def _deliver(self, rows: Any, number: int) -> None:  # noqa: ANN401 - Spark's
        assert self._batch is not None  # the query was started behind it
        epoch = self._batch.epoch
        works = [
            self._works.of(self._unit(StreamBatch(epoch, number), slot), slot)
            for slot in range(self._stream.slots)
        ]
        reports = [
            self._report(each) for each in self._queries.run(self._stream.rows(rows), works, self._tag)
        ]
        whole = StreamBatch(epoch, number, self._folders.positions(epoch, number))
        reports.append(self._report(self._works.of(self._unit(whole), QUERY_LANE).report(iter(()))))
        done = _Delivered(reports)
        self._finished.put(done)
        while not done.committed.wait(_LOOK_SECONDS):
            if self._ending.is_set():
                raise UnitLostError("the query is ended")

    def _report(self, written: bytes) -> UnitReport:
        """Read a report.

        Raises:
            UnitLostError: It says that the partition failed; the task's thread says why.
        """
        report: UnitReport = pickle.loads(written)  # noqa: S301 - our own process has written it
        self._stale = self._stale or report.stale
        if report.failure is not None:
            self._failure = self._failure or report.failure
        if report.stale or report.failure is not None:
            raise UnitLostError("a partition failed")
        return report

    def _unit(self, batch: StreamBatch, slot: int | None = None) -> SparkUnit:
        name = f"batch {batch.number} of the query"
        if slot is None:
            return SparkUnit(self._stream.partition, name, batch, is_mark=True, is_whole=True)
        return SparkUnit({**self._stream.partition, SLOT: slot}, name, batch, is_whole=True)


def _batch_of(offset: SourceOffset) -> StreamBatch:
    return StreamBatch(str(offset[EPOCH]), int(offset[BATCH]), _positions(offset))


def _positions(offset: SourceOffset) -> dict[str, int]:
    return {name: int(place) for name, place in offset.items() if name not in {EPOCH, BATCH}}
