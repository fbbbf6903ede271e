"""A scheduler that answers as a test wants."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from copycat.scheduler.v1 import scheduler_service_pb2 as pb
from copycat.scheduler.v1.scheduler_service_pb2_grpc import SchedulerServiceServicer
from copycat_connect.errors import UnavailableError


class FakeScheduler(SchedulerServiceServicer):
    """Lists workers and assignments."""

    def __init__(self) -> None:
        self.workers: dict[str, pb.Worker] = {}
        self.assignments: list[pb.Assignment] = []
        self.cluster_id: str | None = None
        self.away = False
        self.asked = asyncio.Event()
        self._then: Callable[[], None] | None = None

    def assigns(self, connector: str, worker_id: str, task: int | None = None) -> None:
        """Give an instance to a worker."""
        instance = pb.Instance(connector=connector, task=task)
        self.assignments = [known for known in self.assignments if known.instance != instance]
        self.assignments.append(pb.Assignment(instance=instance, worker_id=worker_id, generation=1))

    def on_next_list(self, then: Callable[[], None]) -> None:
        """Change something right after the next look at the assignments."""
        self._then = then

    async def DescribeKafkaCluster(
        self, request: pb.DescribeKafkaClusterRequest, context: Any
    ) -> pb.DescribeKafkaClusterResponse:
        if self.cluster_id is None:
            raise UnavailableError("no broker answers")
        return pb.DescribeKafkaClusterResponse(cluster_id=self.cluster_id)

    async def ListWorkers(self, request: pb.ListWorkersRequest, context: Any) -> pb.ListWorkersResponse:
        self.asked.set()
        if self.away:
            raise UnavailableError("no scheduler leads")
        return pb.ListWorkersResponse(workers=self.workers.values())

    async def ListAssignments(
        self, request: pb.ListAssignmentsRequest, context: Any
    ) -> pb.ListAssignmentsResponse:
        reply = pb.ListAssignmentsResponse(assignments=self.assignments)
        then, self._then = self._then, None
        if then is not None:
            then()
        return reply
