"""What tasks and their hosts say, turned into statuses, commits and new starts."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from copycat.host.v1 import host_service_pb2 as pb
from copycat.types.v1 import types_pb2
from copycat_connect.cluster import Instance
from copycat_connect.config.delivery import ExactlyOnceSources
from copycat_connect.errors import ConnectError
from copycat_connect.failure_kind import FailureKind
from copycat_rpc.acts import HOST_DIED, ActReporter

from copycat_executor.background.jobs import Jobs
from copycat_executor.children.query_engine import Queries
from copycat_executor.domain.running import Phase
from copycat_executor.domain.suspicion import MEMORY_SECONDS
from copycat_executor.hosts.launched_host import LaunchedHost
from copycat_executor.metrics.worker_meter import WorkerMeter
from copycat_executor.outbox import status_outbox
from copycat_executor.outbox.commit_outbox import CommitOutbox
from copycat_executor.outbox.fencing import REPLACED, TaskFencing
from copycat_executor.outbox.offset_reader import OffsetReader, SinkGroup, source_store
from copycat_executor.outbox.topic_outbox import TopicOutbox
from copycat_executor.peers import messages
from copycat_executor.pipeline.records.trace import trace_text
from copycat_executor.state.board import Board
from copycat_executor.state.healer import Healer
from copycat_executor.tasks.suspects import Suspects
from copycat_executor.tasks.task_life import TaskLife, TaskLives

#: By then who was suspected of the death of a host is so no longer.
FORGOTTEN_AFTER_SECONDS = MEMORY_SECONDS + 1.0


class TaskEvents:
    """Hears every host; events of a start that is over are dropped."""

    def __init__(
        self,
        *,
        board: Board,
        lives: TaskLives,
        suspects: Suspects,
        healer: Healer,
        acts: ActReporter,
        commits: CommitOutbox,
        offsets: OffsetReader,
        fencing: TaskFencing,
        topics: TopicOutbox,
        queries: Queries,
        meter: WorkerMeter,
        jobs: Jobs,
        exactly_once: ExactlyOnceSources,
    ) -> None:
        """`exactly_once`: which sources of this worker deliver so; it says where their offsets are."""
        self._board = board
        self._lives = lives
        self._suspects = suspects
        self._healer = healer
        self._acts = acts
        self._commits = commits
        self._offsets = offsets
        self._fencing = fencing
        self._topics = topics
        self._queries = queries
        self._meter = meter
        self._jobs = jobs
        self._exactly_once = exactly_once

    def state_changed(self, event: pb.TaskStateChanged) -> None:
        """A task changed its state."""
        life = self._lives.of(event.task)
        if life is None:
            return
        version = event.version if event.HasField("version") else None
        match event.state:
            case types_pb2.STATE_RUNNING | types_pb2.STATE_PAUSED:
                self._settled(life, event.state, version)
            case types_pb2.STATE_FAILED:
                self._failed(life, event, version)
            case types_pb2.STATE_UNASSIGNED:
                self._ended(life)

    def taken(self, event: pb.TaskTaken) -> None:
        """A host has a task's order."""
        life = self._lives.of(event.task)
        if life is not None:
            life.taken = True

    def made_of(self, event: pb.PluginsInUse) -> None:
        """A task says what it is made of."""
        if self._lives.of(event.task) is not None:
            self._meter.plugins(messages.task_of(event.task), event.plugins)

    def measured(self, event: pb.TaskMetrics) -> None:
        """Add what a task measured to its metrics."""
        if self._lives.of(event.task) is not None:
            self._meter.measured(messages.task_of(event.task), event.measures)

    def trouble(self, event: pb.TaskTrouble) -> None:
        """Tell what keeps a task from moving."""
        life = self._lives.of(event.task)
        if life is not None:
            self._lives.troubled(life, event.trouble if event.HasField("trouble") else None)

    def acknowledged(self, event: pb.Acknowledged, host: LaunchedHost) -> None:
        """A task has progress to commit."""
        life = self._lives.of(event.task)
        if life is None:
            return
        config = life.wanted.connector_config
        self._commits.acknowledged(
            event,
            SinkGroup.of(life.instance.connector, config),
            source_store(config, self._exactly_once),
            lambda fate: host.send(pb.AttachResponse(committed=fate)),
        )

    def topics_seen(self, event: pb.TopicsSeen) -> None:
        """Queue topics for the status service (KIP-558)."""
        if self._lives.of(event.task) is not None:
            self._topics.seen(messages.task_of(event.task), event.topics)

    def offsets_wanted(self, event: pb.OffsetsWanted, host: LaunchedHost) -> None:
        """A task asks for source offsets."""
        life = self._lives.of(event.task)
        if life is None:
            over = pb.OffsetsFound(sequence=event.sequence, error="This start of the task is over")
            host.send(pb.AttachResponse(offsets_found=over))
            return
        store = source_store(life.wanted.connector_config, self._exactly_once)

        async def answer() -> None:
            host.send(pb.AttachResponse(offsets_found=await self._offsets.answer(event, store)))

        self._jobs.spawn(answer(), "offsets for a task")

    def fence_wanted(self, event: pb.FenceWanted, host: LaunchedHost) -> None:
        """A task asks whether it may begin, all before it being fenced."""
        life = self._lives.of(event.task)
        if life is None:
            done = pb.FenceDone(sequence=event.sequence, error=REPLACED, stale=True)
            host.send(pb.AttachResponse(fence_done=done))
            return
        task_set = life.wanted.task_generation
        self._board.change_task(life.instance, fenced_set=task_set)

        async def answer() -> None:
            host.send(pb.AttachResponse(fence_done=await self._fencing.answer(event, task_set)))

        self._jobs.spawn(answer(), "fencing for a task")

    def query_wanted(self, event: pb.QueryWanted, host: LaunchedHost) -> None:
        """A transformation wants a query prepared or run."""

        async def answer() -> None:
            host.send(pb.AttachResponse(query_answered=await self._queries.answer(event)))

        self._jobs.spawn(answer(), "query for a task")

    def host_lost(self, tasks: Sequence[Instance], reason: str) -> None:
        """The host of these tasks died: they start again elsewhere, a few times."""
        there = [life for each in tasks if (life := self._lives.get(each)) is not None]
        self._suspects.host_died([life.instance for life in there if life.taken])
        for life in there:
            self._lost(life, reason)
        self._let_share()
        # Where nobody dies any more, nothing else looks again at who is kept apart.
        asyncio.get_running_loop().call_later(FORGOTTEN_AFTER_SECONDS, self._let_share)

    def _let_share(self) -> None:
        self._lives.let_share(self._suspects.cleared)

    def _lost(self, life: TaskLife, reason: str) -> None:
        instance = life.instance
        if self._stopping(life):
            life.ended.set()
            return
        if not life.taken:
            self._suspects.lost_order(instance)
        if self._suspects.hopeless(instance):
            message = f"The host of task {instance} died again and again, the last time so: {reason}"
            self._suspects.failed(instance)
            self._lives.fail(life, trace_text(ConnectError(message)), FailureKind.RESOURCE)
        else:
            self._acts.report(instance, HOST_DIED, f"Its host died: {reason}. The task starts again.")
            self._lives.close(life)
            self._board.drop_task(instance)

    def leave_host(self, tasks: Sequence[Instance]) -> None:
        """These tasks are to move to another host."""
        for instance in tasks:
            self._board.change_task(instance, moving=True)

    def _settled(self, life: TaskLife, state: types_pb2.State.ValueType, version: str | None) -> None:
        life.settled.set()
        if self._stopping(life):
            return
        self._lives.report(life, state, version=version)
        self._healer.running(life.instance)
        if self._board.tasks[life.instance].phase is Phase.STARTING:
            self._board.change_task(life.instance, phase=Phase.SETTLED)

    def _failed(self, life: TaskLife, event: pb.TaskStateChanged, version: str | None) -> None:
        if not self._stopping(life):
            if event.hangs and life.host is not None:
                self._suspects.hung(life.instance)
                life.host.hangs = True
            self._lives.fail(life, event.trace, messages.failure_kind(event.failure_kind), version)
            return
        if event.hangs:
            life.hung = True
        else:
            life.failed = True
            self._lives.report(life, status_outbox.FAILED, trace=event.trace, version=version)
        life.ended.set()

    def _ended(self, life: TaskLife) -> None:
        life.ended.set()
        if not self._stopping(life):
            # Its generation is stale (I2): it waits here, not running, for what the scheduler says.
            self._meter.state(life.instance, types_pb2.STATE_UNASSIGNED)
            self._lives.close(life)
            self._board.change_task(life.instance, phase=Phase.FAILED)

    def _stopping(self, life: TaskLife) -> bool:
        runs = self._board.tasks.get(life.instance)
        return runs is None or runs.phase is Phase.STOPPING
