"""What tasks ask while they run: for offsets, whether all before them are fenced, for queries."""

from __future__ import annotations

from copycat.host.v1 import host_service_pb2 as pb
from copycat_connect.config.delivery import ExactlyOnceSources

from copycat_executor.background.jobs import Jobs
from copycat_executor.children.query_engine import Queries
from copycat_executor.hosts.launched_host import LaunchedHost
from copycat_executor.outbox.fencing import REPLACED, TaskFencing
from copycat_executor.outbox.offset_reader import OffsetReader, source_store
from copycat_executor.state.runs import Runs


class TaskQuestions:
    """Answers the questions of tasks, each in a job of its own."""

    def __init__(
        self,
        runs: Runs,
        offsets: OffsetReader,
        fencing: TaskFencing,
        queries: Queries,
        *,
        jobs: Jobs,
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
