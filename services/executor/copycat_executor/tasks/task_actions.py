"""Tasks: started in hosts, paused, drained.

A connector of thousands of tasks would otherwise take all of the worker's time until the last one runs, while
nothing of another connector starts.
"""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict, deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from copycat.host.v1 import host_service_pb2 as pb
from copycat.types.v1 import types_pb2
from copycat_connect.cluster import Instance, TargetState
from copycat_connect.errors import CopycatError
from copycat_connect.failure_kind import FailureKind, kind_of
from copycat_rpc.configs import config_to_proto
from copycat_rpc.target_states import target_state_to_proto
from copycat_telemetry.recent_spans import RecentSpans
from copycat_telemetry.tracing import traceparent

from copycat_executor.background.jobs import Jobs
from copycat_executor.domain.desired import WantedTask
from copycat_executor.domain.host_view import Isolation
from copycat_executor.domain.running import Phase, RunningTask
from copycat_executor.domain.task_limit import check_task_count
from copycat_executor.hosts.host_pool import HostPool
from copycat_executor.metrics.worker_meter import WorkerMeter
from copycat_executor.outbox import status_outbox
from copycat_executor.outbox.commit_outbox import CommitOutbox
from copycat_executor.outbox.offset_reader import OffsetReader, SinkGroup
from copycat_executor.pipeline.records.trace import trace_text
from copycat_executor.state.board import Board
from copycat_executor.state.feed import Feed
from copycat_executor.state.healer import Healer
from copycat_executor.state.tenure import Tenure
from copycat_executor.tasks.place_waits import PlaceWaits
from copycat_executor.tasks.suspects import Suspects
from copycat_executor.tasks.task_life import TaskLife, TaskLives

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
        """A turn of a connector is over."""
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


#: The way to the host and back may add this to a drain.
DRAIN_MARGIN_SECONDS = 1.5


@dataclass(frozen=True, slots=True)
class Budgets:
    """How long ends may take, seconds."""

    drain: float
    """For a task to drain (`task.shutdown.graceful.timeout.ms`)."""
    commit: float
    """For its last acknowledgement to be committed (`offset.flush.timeout.ms`)."""


class TaskActions:
    """Carries out what is to be done about tasks; each action returns at once."""

    def __init__(
        self,
        *,
        board: Board,
        feed: Feed,
        tenure: Tenure,
        hosts: HostPool,
        waits: PlaceWaits,
        lives: TaskLives,
        suspects: Suspects,
        healer: Healer,
        commits: CommitOutbox,
        offsets: OffsetReader,
        meter: WorkerMeter,
        jobs: Jobs,
        budgets: Budgets,
        worker: Mapping[str, str],
        spans: RecentSpans,
    ) -> None:
        """`worker` is the worker's configuration, which every task gets."""
        self._spans = spans
        self._board = board
        self._feed = feed
        self._tenure = tenure
        self._hosts = hosts
        self._waits = waits
        self._lives = lives
        self._suspects = suspects
        self._healer = healer
        self._commits = commits
        self._offsets = offsets
        self._meter = meter
        self._jobs = jobs
        self._budgets = budgets
        self._worker = config_to_proto(worker)
        self._turns = StartTurns()

    def start(self, wanted: WantedTask) -> None:
        """Send a task into a host; returns at once, its events report what becomes of it."""
        life = self._lives.begin(wanted)
        self._board.put_task(
            wanted.instance,
            RunningTask(
                connector_config=wanted.connector_config,
                task_config=wanted.task_config,
                partitions=wanted.partitions,
                generation=wanted.generation,
                target=wanted.target,
            ),
        )
        self._meter.begins(wanted.instance)
        life.job = self._jobs.spawn(self._start(life), f"start of task {wanted.instance}")

    def set_target(self, instance: Instance, target: TargetState) -> None:
        """Pause or resume a task; one on its way into a host begins in its new target state."""
        self._board.change_task(instance, target=target)
        life = self._lives.get(instance)
        if life is not None and life.host is not None:
            state = pb.SetTaskState(task=life.ref, target_state=target_state_to_proto(target))
            life.host.send(pb.AttachResponse(set_task_state=state))

    def stop(self, instance: Instance) -> None:
        """Drain a task, then forget it."""
        self._waits.over(instance)
        life = self._lives.get(instance)
        if life is None:  # it failed: nothing of it is left
            if not self._feed.wants(instance):
                self._healer.forget(instance)
            self._board.drop_task(instance)
            return
        self._board.change_task(instance, phase=Phase.STOPPING)
        self._jobs.spawn(self._stop(life), f"stop of task {instance}")

    async def _start(self, life: TaskLife) -> None:
        turn = await self._turns.take(life.instance.connector)
        try:
            with self._spans.span("start task", life.instance):
                await self._send(life)
                await life.settled.wait()
        finally:
            turn.end()

    async def _send(self, life: TaskLife) -> None:
        wanted, instance = life.wanted, life.instance
        try:
            check_task_count(instance.connector, wanted.connector_config, wanted.task_count)
            # What its last start achieved comes first, or it would be done again.
            await self._commits.flushed(instance)
            await asyncio.sleep(self._suspects.wait_seconds(instance))
            group = SinkGroup.of(instance.connector, wanted.connector_config)
            positions = await self._offsets.positions(group, wanted.partitions)
            isolation = Isolation.of(wanted.connector_config)
            with self._waits.told(life):
                suspected, foremost = self._suspects.suspected(instance), self._suspects.foremost(instance)
                host = await self._hosts.place(instance, isolation, alone=suspected, foremost=foremost)
        except CopycatError as error:
            self._waits.over(instance)
            self._lives.fail(life, trace_text(error), kind_of(error, {}) or FailureKind.BUG)
            return
        if host is None:
            return  # it died: its residents are notified
        self._waits.over(instance)
        life.host = host
        if not self._tenure.holds():  # meanwhile another worker may have been given it
            self._lives.close(life)
            self._board.drop_task(instance)
            return
        host.send(pb.AttachResponse(start_task=self._order(life, positions)))

    def _order(self, life: TaskLife, positions: list[types_pb2.TopicPartitionOffset]) -> pb.StartTask:
        wanted, runs = life.wanted, self._board.tasks[life.instance]
        return pb.StartTask(
            task=life.ref,
            worker_config=self._worker,
            connector_config=config_to_proto(wanted.connector_config),
            task_config=config_to_proto(wanted.task_config),
            target_state=target_state_to_proto(runs.target),
            partitions=positions,
            traceparent=traceparent(),
        )

    async def _stop(self, life: TaskLife) -> None:
        if life.job is not None:
            life.job.cancel()
            await asyncio.gather(life.job, return_exceptions=True)
        if life.host is not None:
            await self._drain(life)
        await self._commits.flushed(life.instance, self._budgets.commit)
        self._lives.close(life)
        if not (life.failed or life.hung or self._feed.wants(life.instance)):
            self._lives.report(life, status_outbox.UNASSIGNED)
        if not self._feed.wants(life.instance):
            self._suspects.forget(life.instance)
            self._healer.forget(life.instance)
        self._board.drop_task(life.instance)

    async def _drain(self, life: TaskLife) -> None:
        assert life.host is not None  # the caller has looked
        timeout_ms = int(self._budgets.drain * 1000)
        life.host.send(pb.AttachResponse(stop_task=pb.StopTask(task=life.ref, timeout_ms=timeout_ms)))
        try:
            async with asyncio.timeout(self._budgets.drain + DRAIN_MARGIN_SECONDS):
                await life.ended.wait()
        except TimeoutError:
            life.hung = True
        if life.hung:
            await self._hosts.abandon(life.host, life.instance)
