"""What tasks and their hosts say, turned into statuses, commits and new starts; and what tasks ask."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from copycat.host.v1 import host_service_pb2 as pb
from copycat.types.v1 import types_pb2
from copycat_connect.cluster import Instance
from copycat_connect.config.delivery import ExactlyOnceSources
from copycat_connect.errors import ConnectError
from copycat_connect.failure_kind import FailureKind

from copycat_executor import peers
from copycat_executor.background import BackgroundJobs
from copycat_executor.children.query_engine import Queries
from copycat_executor.domain.deaths import MEMORY_SECONDS
from copycat_executor.domain.running import Phase
from copycat_executor.hosts.launched_host import Blame, LaunchedHost
from copycat_executor.outbox import status_outbox
from copycat_executor.outbox.commit_outbox import CommitOutbox
from copycat_executor.outbox.fencing import REPLACED, TaskFencing
from copycat_executor.outbox.offset_reader import OffsetReader, SinkGroup, source_store
from copycat_executor.outbox.topic_outbox import TopicOutbox
from copycat_executor.pipeline.records.trace import trace_text
from copycat_executor.state.recovery import Recovery
from copycat_executor.state.runs import Runs, TaskStart
from copycat_executor.taskhost.spec import thread_tag
from copycat_executor.tasks.task_lifecycle import TaskLifecycle

#: By then who was suspected of the death of a host is so no longer.
FORGOTTEN_AFTER_SECONDS = MEMORY_SECONDS + 1.0


class TaskEvents:
    """Hears every host; events of a start that is over are dropped."""

    def __init__(
        self,
        runs: Runs,
        lifecycle: TaskLifecycle,
        recovery: Recovery,
        *,
        commits: CommitOutbox,
        topics: TopicOutbox,
        exactly_once: ExactlyOnceSources,
    ) -> None:
        """`exactly_once`: which sources of this worker deliver so; it says where their offsets are."""
        self._runs = runs
        self._lifecycle = lifecycle
        self._recovery = recovery
        self._commits = commits
        self._topics = topics
        self._exactly_once = exactly_once

    def state_changed(self, event: pb.TaskStateChanged) -> None:
        """Act on a task's new state."""
        start = self._runs.start_of(event.task)
        if start is None:
            return
        version = event.version if event.HasField("version") else None
        match event.state:
            case types_pb2.STATE_RUNNING | types_pb2.STATE_PAUSED:
                self._lifecycle.settle(start, event.state, version)
            case types_pb2.STATE_FAILED:
                self._failed(start, event, version)
            case types_pb2.STATE_UNASSIGNED:
                self._ended(start)

    def taken(self, event: pb.TaskTaken) -> None:
        """Note that a host has a task's order."""
        start = self._runs.start_of(event.task)
        if start is not None:
            start.taken = True

    def made_of(self, event: pb.PluginsInUse) -> None:
        """Note what a task is made of."""
        start = self._runs.start_of(event.task)
        if start is not None and start.run.meter is not None:
            start.run.meter.made_of(event.plugins)

    def measured(self, event: pb.TaskMetrics) -> None:
        """Add what a task measured to its metrics."""
        start = self._runs.start_of(event.task)
        if start is not None and start.run.meter is not None:
            start.run.meter.note(event.measures)

    def trouble(self, event: pb.TaskTrouble) -> None:
        """Report what keeps a task from moving."""
        start = self._runs.start_of(event.task)
        if start is not None:
            self._lifecycle.troubled(start, event.trouble if event.HasField("trouble") else None)

    def acknowledged(self, event: pb.Acknowledged, host: LaunchedHost) -> None:
        """Commit the progress of a task."""
        start = self._runs.start_of(event.task)
        if start is None:
            return
        config = start.wanted.connector_config
        self._commits.acknowledged(
            start.run.progress,
            event,
            SinkGroup.of(start.instance.connector, config),
            source_store(config, self._exactly_once),
            lambda fate: host.send(pb.AttachResponse(committed=fate)),
        )

    def topics_seen(self, event: pb.TopicsSeen) -> None:
        """Queue topics for the status service (KIP-558)."""
        start = self._runs.start_of(event.task)
        if start is not None:
            self._topics.seen(start.run.topics, event.topics)

    def may_be_alone(self, tasks: Sequence[Instance], blame: Blame) -> bool:
        """Return whether the one of these tasks that holds their host up is known, and not kept apart yet.

        One that is shares all the same, since there are too few hosts: it has the time that any has.
        """
        blamed = _blamed(self._starts_of(tasks), blame)
        return any(not self._recovery.suspected(start.run) for start in blamed)

    def host_lost(self, tasks: Sequence[Instance], reason: str, blame: Blame | None) -> None:
        """Start the tasks of a host that died elsewhere, a few times."""
        there = self._starts_of(tasks)
        suspects = [start for start in there if start.taken]
        blamed = _blamed(suspects, blame)
        if blame is None or blame.counts:
            self._recovery.host_died([start.run for start in blamed or suspects])
        else:
            for start in blamed:
                self._recovery.hung(start.run)
        for start in there:
            self._lost(start, reason)
        self._lifecycle.let_share()
        # Where nobody dies any more, nothing else looks again at who is kept apart.
        asyncio.get_running_loop().call_later(FORGOTTEN_AFTER_SECONDS, self._lifecycle.let_share)

    def leave_host(self, tasks: Sequence[Instance]) -> None:
        """Move these tasks to another host."""
        for instance in tasks:
            if (run := self._runs.find_task(instance)) is not None:
                run.change(moving=True)

    def _starts_of(self, tasks: Sequence[Instance]) -> list[TaskStart]:
        runs = [run for each in tasks if (run := self._runs.find_task(each)) is not None]
        return [run.start for run in runs if run.start is not None]

    def _lost(self, start: TaskStart, reason: str) -> None:
        if start.stopping:
            start.ended.set()
        elif self._recovery.starts_again(start.run, reason, taken=start.taken):
            self._lifecycle.close(start)
            start.run.leave()
        else:
            message = f"The host of task {start.instance} died again and again, the last time so: {reason}"
            self._lifecycle.fail(start, trace_text(ConnectError(message)), FailureKind.RESOURCE)

    def _failed(self, start: TaskStart, event: pb.TaskStateChanged, version: str | None) -> None:
        if not start.stopping:
            if event.hangs and start.host is not None:
                self._recovery.hung(start.run)
                start.host.hangs = True
            kind = peers.failure_kind(event.failure_kind)
            self._lifecycle.fail(start, event.trace, kind, version, tolerable=event.tolerable)
            return
        if event.hangs:
            start.hung = True
        else:
            start.failed = True
            self._lifecycle.report(start, status_outbox.FAILED, trace=event.trace, version=version)
        start.ended.set()

    def _ended(self, start: TaskStart) -> None:
        start.ended.set()
        if not start.stopping:
            # Its generation is stale (I2): it waits here, not running, for what the scheduler says.
            start.run.measure_state(types_pb2.STATE_UNASSIGNED)
            self._lifecycle.close(start)
            start.run.change(phase=Phase.FAILED)


def _blamed(starts: Sequence[TaskStart], blame: Blame | None) -> list[TaskStart]:
    return [start for start in starts if blame and thread_tag(start.number) == blame.thread]


class TaskQuestions:
    """Answers the questions of tasks, each in a job of its own."""

    def __init__(
        self,
        runs: Runs,
        offsets: OffsetReader,
        fencing: TaskFencing,
        queries: Queries,
        *,
        jobs: BackgroundJobs,
        exactly_once: ExactlyOnceSources,
    ) -> None:
        """`exactly_once`: which sources of this worker deliver so; it says where their offsets are."""
        self._runs = runs
        self._offsets = offsets
        self._fencing = fencing
        self._queries = queries
        self._jobs = jobs
        self._exactly_once = exactly_once

    def offsets_wanted(self, event: pb.OffsetsWanted, host: LaunchedHost) -> None:
        """Answer a task that asks for source offsets."""
        start = self._runs.start_of(event.task)
        if start is None:
            over = pb.OffsetsFound(sequence=event.sequence, error="This start of the task is over")
            host.send(pb.AttachResponse(offsets_found=over))
            return
        store = source_store(start.wanted.connector_config, self._exactly_once)

        async def answer() -> None:
            host.send(pb.AttachResponse(offsets_found=await self._offsets.answer(event, store)))

        self._jobs.spawn(answer(), "offsets for a task")

    def fence_wanted(self, event: pb.FenceWanted, host: LaunchedHost) -> None:
        """Answer a task that asks whether it may begin, all before it being fenced."""
        start = self._runs.start_of(event.task)
        if start is None:
            done = pb.FenceDone(sequence=event.sequence, error=REPLACED, stale=True)
            host.send(pb.AttachResponse(fence_done=done))
            return
        task_set = start.wanted.task_generation
        start.run.change(fenced_set=task_set)

        async def answer() -> None:
            host.send(pb.AttachResponse(fence_done=await self._fencing.answer(event, task_set)))

        self._jobs.spawn(answer(), "fencing for a task")

    def query_wanted(self, event: pb.QueryWanted, host: LaunchedHost) -> None:
        """Have a query of a transformation prepared or run."""

        async def answer() -> None:
            host.send(pb.AttachResponse(query_answered=await self._queries.answer(event)))

        self._jobs.spawn(answer(), "query for a task")
