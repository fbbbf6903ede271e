"""The way of a task into a host: its turn, where it begins, its place, its order.

A connector of thousands of tasks would otherwise take all of the worker's time until the last one runs, while
nothing of another connector starts.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from copycat.host.v1 import host_service_pb2 as pb
from copycat.status.v1 import status_service_pb2 as status_pb
from copycat.types.v1 import types_pb2
from copycat_connect.errors import CopycatError
from copycat_connect.failure_kind import FailureKind, kind_of
from copycat_rpc.messages import config_to_proto, target_state_to_proto
from copycat_telemetry.recent_spans import RecentSpans
from copycat_telemetry.tracing import traceparent

from copycat_executor.domain.task_limit import check_task_count
from copycat_executor.hosts.host_pools import HostPools
from copycat_executor.hosts.launched_host import LaunchedHost
from copycat_executor.outbox import status_outbox
from copycat_executor.outbox.offset_reader import OffsetReader, SinkGroup
from copycat_executor.pipeline.records.trace import trace_text
from copycat_executor.state.recovery import Recovery
from copycat_executor.state.runs import PlaceWait, TaskRun, TaskStart
from copycat_executor.tasks.task_lifecycle import TaskLifecycle

#: Tasks that start at the same time on a worker.
MAX_CONCURRENT_STARTS: Final = 8
#: Those of one connector: others start even while the author's `start` hangs in all of these.
MAX_CONCURRENT_STARTS_OF_CONNECTOR: Final = 4
#: A start that takes longer no longer holds up others: it waits for a slot, or the author's code is slow.
MAX_TURN_SECONDS: Final = 5.0


class Turn:
    """A task's turn to start; ends by itself after a while, the task's start goes on."""

    def __init__(self, turns: StartTurns, connector: str) -> None:
        self._turns = turns
        self._connector: str | None = connector
        self._timer = asyncio.get_running_loop().call_later(MAX_TURN_SECONDS, self.end)

    def end(self) -> None:
        """Let another task start; does nothing when it has ended before."""
        connector, self._connector = self._connector, None
        if connector is not None:
            self._timer.cancel()
            self._turns.ended(connector)


class StartTurns:
    """Gives turns to the connectors in a circle, to the tasks of each in the order in which they asked."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()
        self._starting: Counter[str] = Counter()

    async def take(self, connector: str) -> Turn:
        """Wait for the turn of a task of a connector."""
        asked: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(connector, deque()).append(asked)
        self._give()
        try:
            await asked
        except asyncio.CancelledError:
            if asked.done() and not asked.cancelled():  # given at this very moment
                self.ended(connector)
            raise
        return Turn(self, connector)

    def ended(self, connector: str) -> None:
        """End a turn of a connector."""
        self._starting[connector] -= 1
        self._starting += Counter()  # drops those that are at 0
        self._give()

    def _give(self) -> None:
        while self._starting.total() < MAX_CONCURRENT_STARTS:
            connector = next((name for name in self._waiting if self._may_start(name)), None)
            if connector is None:
                return
            asked = self._waiting[connector].popleft()
            self._waiting.move_to_end(connector)
            if not self._waiting[connector]:
                del self._waiting[connector]
            if not asked.cancelled():  # its task is to stop
                self._starting[connector] += 1
                asked.set_result(None)

    def _may_start(self, connector: str) -> bool:
        return self._starting[connector] < MAX_CONCURRENT_STARTS_OF_CONNECTOR


#: A task finds its place sooner as a rule. A silent host is given up a second before its lease ends: what
#: nobody runs is RUNNING for no longer than a lease.
PLACE_WAIT_SHOWN_AFTER_SECONDS: Final = 0.8
#: A host that dies before it attaches is followed by the next try at once: that is the same wait.
SAME_WAIT_SECONDS: Final = 0.5


class TaskStarts:
    """Sends tasks into hosts; the status of one that waits for its place says so as soon as that lasts."""

    def __init__(
        self,
        lifecycle: TaskLifecycle,
        recovery: Recovery,
        hosts: HostPools,
        *,
        offsets: OffsetReader,
        spans: RecentSpans,
        worker: Mapping[str, str],
    ) -> None:
        """`worker` is the worker's configuration, which every task gets."""
        self._lifecycle = lifecycle
        self._recovery = recovery
        self._hosts = hosts
        self._offsets = offsets
        self._spans = spans
        self._worker = config_to_proto(worker)
        self._master = worker.get("spark.master") or "local"
        self._turns = StartTurns()

    async def run(self, start: TaskStart) -> None:
        """Send a task into a host in its turn; returns once it has settled there, or failed."""
        turn = await self._turns.take(start.instance.connector)
        try:
            with self._spans.span("start task", start.instance):
                await self._send(start)
                await start.settled.wait()
        finally:
            turn.end()

    def end_wait(self, run: TaskRun) -> None:
        """Note that a task has its place, or wants none any more: a later try is another wait."""
        if run.wait is not None:
            run.wait = None
            self._lifecycle.moves(run)

    async def _send(self, start: TaskStart) -> None:
        wanted, run = start.wanted, start.run
        try:
            check_task_count(start.instance.connector, wanted.connector_config, wanted.task_count)
            # What its last start achieved comes first, or it would be done again.
            await run.progress.flushed()
            await asyncio.sleep(self._recovery.wait_seconds(run))
            group = SinkGroup.of(start.instance.connector, wanted.connector_config)
            positions = await self._offsets.positions(group, wanted.partitions)
            host = await self._place(start)
        except CopycatError as error:
            self.end_wait(run)
            self._lifecycle.fail(start, trace_text(error), kind_of(error, {}) or FailureKind.BUG)
            return
        if host is None:
            return  # it died: its residents are notified
        self.end_wait(run)
        if self._lifecycle.place(start, host):
            host.send(pb.AttachResponse(start_task=self._order(start, positions)))

    async def _place(self, start: TaskStart) -> LaunchedHost | None:
        connector, recovery = start.wanted.connector_config, self._recovery
        with self._waiting(start):
            suspected, foremost = recovery.suspected(start.run), recovery.foremost(start.run)
            return await self._hosts.place(start.instance, connector, alone=suspected, foremost=foremost)

    @contextmanager
    def _waiting(self, start: TaskStart) -> Iterator[None]:
        """Report that the task waits for as long as this block lasts, once that is longer than usual."""
        loop, wait = asyncio.get_running_loop(), start.run.wait
        if wait is None or loop.time() - wait.ended > SAME_WAIT_SECONDS:
            wait = start.run.wait = PlaceWait(loop.time(), time.time())
        shown = loop.call_at(wait.began + PLACE_WAIT_SHOWN_AFTER_SECONDS, self._report_wait, start, wait)
        try:
            yield
        finally:
            shown.cancel()
            wait.ended = loop.time()

    def _report_wait(self, start: TaskStart, wait: PlaceWait) -> None:
        if start.run.start is not start:
            return  # its host has died just now, and what becomes of it is reported
        self._lifecycle.report(start, status_outbox.UNASSIGNED)
        trouble = status_pb.Trouble(
            kind=status_pb.TROUBLE_KIND_WAITS,
            since_ms=int(wait.began_at * 1000),
            text=self._what_it_waits_for(start),
        )
        self._lifecycle.troubled(start, trouble)

    def _what_it_waits_for(self, start: TaskStart) -> str:
        placed = self._hosts.has_host(start.instance)
        if self._hosts.needs_driver(start.wanted.connector_config):
            return self._what_driver_it_waits_for(placed)
        if not placed:
            return "a task host, for all slots of this worker are taken (spark.master, spark.cores.max)"
        return (
            f"a place on Spark ({self._master}): its task host was launched, and Spark has not started it. "
            "Are there Spark workers with a free core, and the memory that spark.executor.memory names?"
        )

    def _what_driver_it_waits_for(self, placed: bool) -> str:
        if placed:
            return "its driver of Spark, which takes some seconds to start"
        if self._hosts.has_all_drivers:
            return (
                "a driver of Spark: this worker runs as many already as its property spark.drivers.max says. "
                "Raise it, add a worker, or stop another connector that Spark runs"
            )
        return "a driver of Spark: this worker starts one at a time, and another one starts now"

    def _order(self, start: TaskStart, positions: list[types_pb2.TopicPartitionOffset]) -> pb.StartTask:
        wanted, running = start.wanted, start.run.running
        assert running is not None  # a task that leaves cancels its start
        return pb.StartTask(
            task=start.ref,
            worker_config=self._worker,
            connector_config=config_to_proto(wanted.connector_config),
            task_config=config_to_proto(wanted.task_config),
            target_state=target_state_to_proto(running.target),
            partitions=positions,
            traceparent=traceparent(),
        )
