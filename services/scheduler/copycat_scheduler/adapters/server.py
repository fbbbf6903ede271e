"""The scheduler over gRPC: workers join, anybody reads and watches the assignments."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from typing import Any

from copycat.scheduler.v1 import scheduler_service_pb2 as pb
from copycat.scheduler.v1 import scheduler_service_pb2_grpc as grpc_pb
from copycat_rpc.messages import instance_from_proto
from copycat_rpc.server import RpcServer
from copycat_serving.reads import read_state, stream_watch

from copycat_scheduler.adapters import messages
from copycat_scheduler.adapters.event_sourced import SchedulerEvents
from copycat_scheduler.adapters.workers import LiveWorkers
from copycat_scheduler.domain.errors import UnnamedWorkerError
from copycat_scheduler.domain.views import find_assignment, list_assignments

SERVICE = "copycat.scheduler.v1.SchedulerService"


def register(
    server: RpcServer,
    events: SchedulerEvents,
    workers: LiveWorkers,
    cluster_id: Callable[[], Awaitable[str]],
    *,
    lease_ms: int,
    stop: asyncio.Event,
    stream_ended: Callable[[str], None],
) -> None:
    """Let a server answer for the assignments and the workers.

    Args:
        server: A server that was not started.
        events: The assignments.
        workers: The leases.
        cluster_id: Asks Kafka's brokers for the id of their cluster.
        lease_ms: The length of a lease in milliseconds, as workers are answered.
        stop: Set when this process ends: the workers' streams end then.
        stream_ended: Called with the name of a worker whose stream is over.
    """
    servicer = SchedulerServicer(
        events, workers, cluster_id, lease_ms=lease_ms, stop=stop, stream_ended=stream_ended
    )
    server.add(grpc_pb.add_SchedulerServiceServicer_to_server, servicer, SERVICE)


class SchedulerServicer(grpc_pb.SchedulerServiceServicer):
    """Assignments carry the revision at which they were read (I4); workers are in no log and have none."""

    def __init__(
        self,
        events: SchedulerEvents,
        workers: LiveWorkers,
        cluster_id: Callable[[], Awaitable[str]],
        *,
        lease_ms: int,
        stop: asyncio.Event,
        stream_ended: Callable[[str], None],
    ) -> None:
        self._events = events
        self._workers = workers
        self._cluster_id = cluster_id
        self._lease_ms = lease_ms
        self._stop = stop
        self._stream_ended = stream_ended

    async def Join(
        self, request_iterator: AsyncIterator[pb.JoinRequest], context: Any
    ) -> AsyncIterator[pb.JoinResponse]:
        """Keep a worker's lease; the end of the stream does not end it."""
        worker_id, said, held = "", pb.JoinRequest(), messages.held_instances(())
        try:
            async for beat in _until(self._stop, request_iterator):
                worker_id = beat.worker_id
                if not worker_id:
                    raise UnnamedWorkerError
                if beat != said:  # most beats say the same again, and a worker may hold thousands
                    said, held = beat, messages.held_instances(beat.held)
                self._workers.beat(worker_id, held, leaving=beat.leaving)
                yield pb.JoinResponse(lease_ms=self._lease_ms)
        finally:
            self._workers.left(worker_id)
            self._stream_ended(worker_id)

    async def ListWorkers(self, request: pb.ListWorkersRequest, context: Any) -> pb.ListWorkersResponse:
        """Return the live workers."""
        sessions = self._workers.leases.sessions
        workers = [messages.worker_message(sessions[name]) for name in sorted(sessions)]
        return pb.ListWorkersResponse(workers=workers)

    async def DescribeKafkaCluster(
        self, request: pb.DescribeKafkaClusterRequest, context: Any
    ) -> pb.DescribeKafkaClusterResponse:
        """Ask the brokers."""
        return pb.DescribeKafkaClusterResponse(cluster_id=await self._cluster_id())

    async def GetAssignment(self, request: pb.GetAssignmentRequest, context: Any) -> pb.GetAssignmentResponse:
        """Return one assignment; whoever led once and does not know better reads on before it answers."""
        await self._events.read_to_end()
        state, revision = await read_state(self._events, request)
        assigned = find_assignment(state, instance_from_proto(request.instance))
        return pb.GetAssignmentResponse(
            assignment=None if assigned is None else messages.assignment_message(assigned),
            revision=revision,
        )

    async def ListAssignments(
        self, request: pb.ListAssignmentsRequest, context: Any
    ) -> pb.ListAssignmentsResponse:
        """Return every assignment."""
        state, revision = await read_state(self._events, request)
        assignments = map(messages.assignment_message, list_assignments(state))
        return pb.ListAssignmentsResponse(assignments=assignments, revision=revision)

    async def WatchAssignments(
        self, request: pb.WatchAssignmentsRequest, context: Any
    ) -> AsyncIterator[pb.WatchAssignmentsResponse]:
        """Stream a snapshot, then every later change."""
        async for message in stream_watch(
            self._events,
            request,
            snapshot=messages.snapshot_messages,
            change=messages.change_messages,
            complete=messages.snapshot_complete,
        ):
            yield message


async def _until(
    stop: asyncio.Event, beats: AsyncIterator[pb.JoinRequest]
) -> AsyncGenerator[pb.JoinRequest, None]:
    """Yield beats until there are no more, or this process stops: a stream never ends by itself."""
    stopping, arriving = asyncio.create_task(stop.wait()), aiter(beats)
    try:
        while True:
            reading = asyncio.ensure_future(anext(arriving, None))
            await asyncio.wait((stopping, reading), return_when=asyncio.FIRST_COMPLETED)
            beat = reading.result() if reading.done() else None
            if beat is None:
                reading.cancel()
                await asyncio.gather(reading, return_exceptions=True)  # or asyncio reports what nobody took
                return
            yield beat
    finally:
        stopping.cancel()
