"""Acknowledged progress on its way to the offset service (I1, I2).

An acknowledgement is never dropped: it waits while the service is away, and a newer one of the same partition
replaces it. Only a newer generation ends it: then the task is another worker's. Or another task has committed
what a task that delivers at most once did not know: then it begins again from there.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from copycat.host.v1 import host_service_pb2 as host_pb
from copycat.offset.v1 import offset_service_pb2 as pb
from copycat.types.v1 import types_pb2
from copycat_connect.cluster import Instance, TopicPartition
from copycat_connect.errors import CopycatError, LogLostError, StaleGenerationError
from copycat_connect.retry import RetryPolicy
from copycat_rpc.errors import code_of
from copycat_rpc.messages import source_offsets_from_proto, source_offsets_to_proto
from copycat_rpc.services import ServiceStubs

from copycat_executor.background import BackgroundJobs
from copycat_executor.outbox.offset_reader import SinkGroup
from copycat_executor.outbox.until_it_works import until_it_works
from copycat_executor.peers import is_transient

log = logging.getLogger(__name__)

#: The offset service's code when another task has committed what this one did not know.
OFFSETS_MOVED: Final = "offsets.moved"
RETRY = RetryPolicy(first=0.1, factor=2.0, ceiling=2.0)
Reply: TypeAlias = Callable[[host_pb.Committed], None]
GenerationFor: TypeAlias = Callable[[Instance, int], int]


@dataclass(slots=True)
class _Waiting:
    """What a task acknowledged and is not committed yet."""

    generation: int = 0
    group: SinkGroup | None = None
    store: pb.OffsetsStore | None = None
    source: dict[bytes, bytes | None] = field(default_factory=dict)
    expected: dict[bytes, bytes | None] = field(default_factory=dict)
    sink: dict[TopicPartition, int] = field(default_factory=dict)
    replies: list[tuple[host_pb.TaskRef, int, Reply]] = field(default_factory=list)

    def add(
        self, ack: host_pb.Acknowledged, group: SinkGroup, store: pb.OffsetsStore | None, reply: Reply
    ) -> None:
        """Keep one more acknowledgement; what it says of a partition replaces what was waiting."""
        self.generation, self.group, self.store = ack.task.generation, group, store
        self.source |= source_offsets_from_proto(ack.source_offsets)
        self.expected = source_offsets_from_proto(ack.expected) | self.expected
        for position in ack.sink_offsets:
            self.sink[TopicPartition(position.topic, position.partition)] = position.offset
        self.replies.append((ack.task, ack.sequence, reply))

    def answer(self, error: str = "", *, stale: bool = False) -> None:
        """Report to the task what became of its acknowledgements."""
        for ref, sequence, reply in self.replies:
            reply(host_pb.Committed(task=ref, sequence=sequence, error=error, stale=stale))

    def older_than(self, newer: _Waiting) -> _Waiting:
        """Return both as one, in which the newer counts."""
        return _Waiting(
            generation=newer.generation or self.generation,
            group=newer.group or self.group,
            store=newer.store if newer.generation else self.store,
            source={**self.source, **newer.source},
            expected={**newer.expected, **self.expected},
            sink={**self.sink, **newer.sink},
            replies=[*self.replies, *newer.replies],
        )


class TaskProgress:
    """What one task has acknowledged, until it is committed."""

    def __init__(
        self, task: Instance, *, begin_again: Callable[[], None], committed: Callable[[], None]
    ) -> None:
        """`begin_again` is called when another task has moved its offsets: it is to read them again.

        `committed` is called whenever nothing is left to commit.
        """
        self.task = task
        self.waiting: _Waiting | None = None
        self.begin_again = begin_again
        self._committed = committed
        self._idle = asyncio.Event()
        self._idle.set()

    @property
    def sending(self) -> bool:
        """Whether something is not committed yet."""
        return not self._idle.is_set()

    async def flushed(self, seconds: float | None = None) -> bool:
        """Wait until all acknowledgements have met their fate; False when the time was not enough."""
        try:
            async with asyncio.timeout(seconds):
                while self.sending:
                    await self._idle.wait()
        except TimeoutError:
            return False
        return True

    def begin(self) -> None:
        """Note that it is being sent."""
        self._idle.clear()

    def end(self) -> None:
        """Note that nothing is sent any more."""
        self._idle.set()
        self._committed()


class CommitOutbox:
    """Commits what tasks acknowledge, one call at a time for each task."""

    def __init__(self, services: ServiceStubs, jobs: BackgroundJobs, generation_for: GenerationFor) -> None:
        """`generation_for` returns the generation under which a start's progress is committed."""
        self._services = services
        self._jobs = jobs
        self._generation_for = generation_for

    def acknowledged(
        self,
        progress: TaskProgress,
        ack: host_pb.Acknowledged,
        group: SinkGroup,
        store: pb.OffsetsStore | None,
        reply: Reply,
    ) -> None:
        """Commit what a task says is durable; `reply` gets the outcome.

        Where it belongs: a sink's positions to `group`, a source's offsets to `store`.
        """
        progress.waiting = progress.waiting or _Waiting()
        progress.waiting.add(ack, group, store, reply)
        if not progress.sending:
            progress.begin()
            self._jobs.spawn(self._send_all(progress), f"commits of {progress.task}")

    async def _send_all(self, progress: TaskProgress) -> None:
        complaint = (
            f"progress of task {progress.task} cannot be committed yet and is tried again until it works"
        )
        try:
            while progress.waiting is not None:
                await until_it_works(
                    lambda: self._send_waiting(progress), RETRY, complaint=complaint, passes=lambda _: True
                )
        finally:
            progress.end()

    async def _send_waiting(self, progress: TaskProgress) -> None:
        """Commit what waits; what is not committed waits on, unless a newer generation ended it (I2)."""
        batch, progress.waiting = progress.waiting or _Waiting(), None
        try:
            await self._send(progress.task, batch)
        except CopycatError as error:
            code = code_of(error).name
            if code not in (StaleGenerationError.code.name, OFFSETS_MOVED):
                _keep(progress, batch, error)
                raise
            log.warning("progress of task %s is not committed: %s", progress.task, error)
            batch.answer(error.message, stale=True)
            if code == OFFSETS_MOVED:
                progress.begin_again()
        else:
            batch.answer()

    async def _send(self, task: Instance, batch: _Waiting) -> None:
        generation = self._generation_for(task, batch.generation)
        if batch.source:
            await self._services.offset.CommitSourceOffsets(
                pb.CommitSourceOffsetsRequest(
                    connector=task.connector,
                    task=task.task_number,
                    generation=generation,
                    offsets=source_offsets_to_proto(batch.source.items()),
                    store=batch.store,
                    expected=source_offsets_to_proto(batch.expected.items()),
                )
            )
        # A sink that acknowledges nothing asks whether a newer generation exists.
        if batch.group is not None and (batch.sink or not batch.source):
            positions = [
                types_pb2.TopicPartitionOffset(topic=topic, partition=partition, offset=offset)
                for (topic, partition), offset in batch.sink.items()
            ]
            await self._services.offset.CommitSinkOffsets(
                pb.CommitSinkOffsetsRequest(
                    connector=task.connector,
                    task=task.task_number,
                    generation=generation,
                    group_id=batch.group.id,
                    offsets=positions,
                    overrides=batch.group.overrides,
                )
            )


def _keep(progress: TaskProgress, batch: _Waiting, error: CopycatError) -> None:
    """Put a batch back behind what has come since; a task hears of what will not pass by itself."""
    if not is_transient(error) or code_of(error).name == LogLostError.code.name:
        batch.answer(error.message)
        batch.replies.clear()
    progress.waiting = batch.older_than(progress.waiting or _Waiting())
