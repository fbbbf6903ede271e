"""What runs, as the status service's watch says; and the corrections only the scheduler can make."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import grpc
from copycat.status.v1 import status_service_pb2 as pb
from copycat.status.v1.status_service_pb2_grpc import StatusServiceStub
from copycat.types.v1 import types_pb2
from copycat_connect.cluster import Instance
from copycat_rpc.following import follow
from copycat_rpc.messages import instance_from_proto

from copycat_scheduler.domain.upkeep import Corrections, Observed

#: The status service takes no more in one call.
MAX_STATUSES_PER_REPORT = 1000


class NewestStatuses:
    """The newest status of every instance."""

    def __init__(
        self, channel: grpc.aio.Channel, arrived: Callable[[], None], changed: Callable[[], None]
    ) -> None:
        """`arrived` is called after each snapshot, `changed` after every later change."""
        self._stub = StatusServiceStub(channel)
        self._arrived = arrived
        self._changed = changed
        self.observed: dict[Instance, Observed] = {}
        """Instance to what its status says."""
        self.highest = 0
        """The highest generation any status ever seen here was written under."""
        self.known = False
        """Whether a whole snapshot has arrived."""

    @property
    def running(self) -> dict[Instance, str]:
        """Instances of which some worker said last that it has them."""
        return {i: status.worker_id for i, status in self.observed.items() if not status.unassigned}

    @property
    def former(self) -> dict[Instance, str]:
        """The worker that spoke last of each instance."""
        return {instance: status.worker_id for instance, status in self.observed.items()}

    async def follow(self) -> None:
        """Follow the status service until cancelled."""
        await follow(
            lambda after: self._stub.WatchStatuses(pb.WatchStatusesRequest(after_revision=after)),
            snapshot=self.replace,
            change=self.apply,
        )

    def replace(self, messages: Sequence[pb.WatchStatusesResponse]) -> None:
        """Replace all that is known by a snapshot."""
        self.observed.clear()
        for message in messages:
            self._take(message)
        self.known = True
        self._arrived()

    def apply(self, message: pb.WatchStatusesResponse) -> None:
        """Apply one change."""
        self._take(message)
        self._changed()

    async def correct(self, upkeep: Corrections) -> None:
        """Have corrections recorded.

        Raises:
            CopycatError: The status service refused or is away; what came before is recorded.
        """
        for connector, tasks in upkeep.forgotten:
            await self._stub.ForgetStatuses(pb.ForgetStatusesRequest(connector=connector, tasks=tasks))
        corrections = [
            _report(instance, status, pb.Status(state=types_pb2.STATE_UNASSIGNED))
            for instance, status in upkeep.unassigned
        ]
        corrections += [
            _report(instance, status, pb.Status(state=types_pb2.STATE_FAILED, trace=reason))
            for instance, status, reason in upkeep.failed
        ]
        for start in range(0, len(corrections), MAX_STATUSES_PER_REPORT):
            request = pb.ReportStatusesRequest(statuses=corrections[start : start + MAX_STATUSES_PER_REPORT])
            await self._stub.ReportStatuses(request)

    def _take(self, message: pb.WatchStatusesResponse) -> None:
        match message.WhichOneof("change"):
            case "status":
                status = message.status.status
                unassigned = status.state == types_pb2.STATE_UNASSIGNED
                running = status.state == types_pb2.STATE_RUNNING
                observed = Observed(status.worker_id, status.generation, unassigned, running)
                self.observed[instance_from_proto(message.status)] = observed
                self.highest = max(self.highest, status.generation)
            case "removed":
                self.observed.pop(instance_from_proto(message.removed), None)
            case _:
                pass


def _report(instance: Instance, known: Observed, status: pb.Status) -> pb.InstanceStatus:
    """Return a status as the worker would have reported it that spoke last of the instance."""
    status.worker_id, status.generation = known.worker_id, known.generation
    return pb.InstanceStatus(connector=instance.connector, task=instance.task, status=status)
