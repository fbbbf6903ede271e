"""The scheduler over gRPC: workers join, anybody watches."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from typing import Any

from copycat.scheduler.v1 import scheduler_service_pb2 as pb
from copycat.scheduler.v1.scheduler_service_pb2_grpc import SchedulerServiceServicer
from copycat.types.v1 import types_pb2
from copycat_connect.cluster import Instance, in_order
from copycat_rpc.instances import instance_from_proto, instance_to_proto
from copycat_serving.watching import stream_watch

from copycat_scheduler.adapters.planning import Planning, SchedulerEvents
from copycat_scheduler.domain.errors import UnnamedWorkerError
from copycat_scheduler.domain.events import Assigned, SchedulerEvent, Unassigned
from copycat_scheduler.domain.state import SchedulerState


class SchedulerServicer(SchedulerServiceServicer):
    """Answers the calls of `copycat.scheduler.v1.SchedulerService`."""

    def __init__(
        self,
        events: SchedulerEvents,
        planning: Planning,
        lease_ms: int,
        stop: asyncio.Event,
        cluster_id: Callable[[], Awaitable[str]],
    ) -> None:
        """Serve the assignments and the leases; workers are sent away when `stop` is set."""
        self._cluster_id = cluster_id
        self._events = events
        self._planning = planning
        self._lease_ms = lease_ms
        self._stop = stop

    async def Join(
        self, request_iterator: AsyncIterator[pb.JoinRequest], context: Any
    ) -> AsyncIterator[pb.JoinResponse]:
        """Keep a worker's lease; the end of the stream does not end it."""
        worker_id = ""
        try:
            async for beat in _until(self._stop, request_iterator):
                worker_id = beat.worker_id
                if not worker_id:
                    raise UnnamedWorkerError
                self._planning.beat(worker_id, _held(beat.held), beat.leaving)
                yield pb.JoinResponse(lease_ms=self._lease_ms)
        finally:
            self._planning.left(worker_id)

    async def ListWorkers(self, request: pb.ListWorkersRequest, context: Any) -> pb.ListWorkersResponse:
        """Return the live workers."""
        sessions = self._planning.leases.sessions
        return pb.ListWorkersResponse(
            workers=[
                pb.Worker(
                    worker_id=name, leaving=sessions[name].leaving, held=_held_messages(sessions[name].held)
                )
                for name in sorted(sessions)
            ]
        )

    async def DescribeKafkaCluster(
        self, request: pb.DescribeKafkaClusterRequest, context: Any
    ) -> pb.DescribeKafkaClusterResponse:
        """Ask the brokers."""
        return pb.DescribeKafkaClusterResponse(cluster_id=await self._cluster_id())

    async def ListAssignments(
        self, request: pb.ListAssignmentsRequest, context: Any
    ) -> pb.ListAssignmentsResponse:
        """Return every assignment."""
        return pb.ListAssignmentsResponse(assignments=map(_assignment, _in_order(self._events.state)))

    async def WatchAssignments(
        self, request: pb.WatchAssignmentsRequest, context: Any
    ) -> AsyncIterator[pb.WatchAssignmentsResponse]:
        """Stream the assignments and every change of them."""
        messages = stream_watch(
            self._events,
            request,
            snapshot=_snapshot,
            change=_change,
            complete=lambda: pb.WatchAssignmentsResponse(snapshot_complete=True),
        )
        async for message in messages:
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


def _snapshot(state: SchedulerState) -> Iterator[pb.WatchAssignmentsResponse]:
    return (pb.WatchAssignmentsResponse(assignment=_assignment(each)) for each in _in_order(state))


def _change(event: SchedulerEvent, state: SchedulerState) -> Iterable[pb.WatchAssignmentsResponse]:
    if isinstance(event, Unassigned):
        return (pb.WatchAssignmentsResponse(removed=instance_to_proto(event.instance)),)
    return (pb.WatchAssignmentsResponse(assignment=_assignment(event)),)


def _in_order(state: SchedulerState) -> Iterator[Assigned]:
    return (state.assignments[instance] for instance in in_order(state.assignments))


def _assignment(assigned: Assigned) -> pb.Assignment:
    return pb.Assignment(
        instance=instance_to_proto(assigned.instance),
        worker_id=assigned.worker_id,
        generation=assigned.generation,
        partitions=[types_pb2.TopicPartition(topic=t, partition=p) for t, p in assigned.partitions],
    )


def _held(messages: Iterable[pb.Held]) -> dict[Instance, int]:
    return {instance_from_proto(each.instance): each.generation for each in messages}


def _held_messages(held: Mapping[Instance, int]) -> list[pb.Held]:
    return [pb.Held(instance=instance_to_proto(each), generation=held[each]) for each in in_order(held)]
