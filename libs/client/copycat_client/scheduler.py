"""The scheduler: live workers and what runs where."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from copycat.scheduler.v1 import scheduler_service_pb2 as pb
from copycat.scheduler.v1.scheduler_service_pb2_grpc import SchedulerServiceStub
from copycat_connect.cluster import Instance, TopicPartition
from copycat_rpc.messages import instance_from_proto, instance_to_proto

from copycat_client.revisions import Revision, revision_message
from copycat_client.watching import Watch, watch

if TYPE_CHECKING:
    import grpc
    from copycat.scheduler.v1.scheduler_service_pb2_grpc import SchedulerServiceAsyncStub


@dataclass(frozen=True, slots=True)
class Worker:
    """A live worker."""

    worker_id: str
    """Its name, and the `host:port` of its executor service."""
    leaving: bool = False
    """It drains and takes no new work."""
    held: Mapping[Instance, int] = field(default_factory=dict)
    """What it runs, drains or starts, as its last beat said, with the generation of each."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """Where an instance runs."""

    instance: Instance
    """Connector or task."""
    worker_id: str
    """The worker that runs it."""
    generation: int
    """Grows with every assignment ever made."""
    partitions: tuple[TopicPartition, ...] = ()
    """Topics and partitions a sink task reads."""


@dataclass(frozen=True, slots=True)
class Unassigned:
    """No worker runs an instance any more."""

    instance: Instance
    """Connector or task."""


AssignmentChange: TypeAlias = Assignment | Unassigned


class Scheduler:
    """Reads ask for nothing; who joins takes part in the work."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._stub: SchedulerServiceAsyncStub = SchedulerServiceStub(channel)

    async def workers(self, *, timeout: float | None = None) -> tuple[Worker, ...]:
        """Return the workers whose lease holds, by name; answered by the instance that leads."""
        reply = await self._stub.ListWorkers(pb.ListWorkersRequest(), timeout=timeout)
        return tuple(
            Worker(
                each.worker_id,
                each.leaving,
                {instance_from_proto(held.instance): held.generation for held in each.held},
            )
            for each in reply.workers
        )

    async def assignments(
        self, *, min_revision: Revision | None = None, timeout: float | None = None
    ) -> tuple[Assignment, ...]:
        """Return every assignment, by connector and task.

        Raises:
            UnavailableError: `min_revision` was not reached in time.
        """
        request = pb.ListAssignmentsRequest(min_revision=revision_message(min_revision))
        reply = await self._stub.ListAssignments(request, timeout=timeout)
        return tuple(map(_assignment, reply.assignments))

    async def kafka_cluster_id(self, *, timeout: float | None = None) -> str:
        """Return the id of the Kafka cluster the workers work on, as its brokers report it.

        Raises:
            RemoteError: No broker answers.
        """
        reply = await self._stub.DescribeKafkaCluster(pb.DescribeKafkaClusterRequest(), timeout=timeout)
        return reply.cluster_id

    def watch(self, after: Revision | None = None) -> Watch[Assignment, AssignmentChange]:
        """Yield every assignment, then every change in log order, for ever; as `Configs.watch`."""
        return watch(
            lambda revision: self._stub.WatchAssignments(pb.WatchAssignmentsRequest(after_revision=revision)),
            after,
            item=lambda message: _assignment(message.assignment),
            change=_change,
        )

    async def join(self, beats: AsyncIterable[Worker]) -> AsyncIterator[float]:
        """Join as a worker; yield for each heartbeat how many seconds the lease holds from it on.

        Only for programs that carry assignments out: work is given to whoever joins. The lease outlives the
        stream; a beat that is `leaving` and holds nothing ends it.

        Raises:
            RemoteError: worker.unnamed, log.not_writer (another instance leads: join again).
            UnavailableError: The stream was lost: join again.
        """
        async for answer in self._stub.Join(_beat(beat) async for beat in beats):
            yield answer.lease_ms / 1000


def _beat(worker: Worker) -> pb.JoinRequest:
    held = [
        pb.Held(instance=instance_to_proto(each), generation=generation)
        for each, generation in worker.held.items()
    ]
    return pb.JoinRequest(worker_id=worker.worker_id, held=held, leaving=worker.leaving)


def _assignment(message: pb.Assignment) -> Assignment:
    return Assignment(
        instance=instance_from_proto(message.instance),
        worker_id=message.worker_id,
        generation=message.generation,
        partitions=tuple(TopicPartition(each.topic, each.partition) for each in message.partitions),
    )


def _change(message: pb.WatchAssignmentsResponse) -> AssignmentChange:
    if message.HasField("removed"):
        return Unassigned(instance_from_proto(message.removed))
    return _assignment(message.assignment)
