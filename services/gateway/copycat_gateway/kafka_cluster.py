"""Which Kafka cluster the workers work on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from copycat.scheduler.v1 import scheduler_service_pb2 as pb
from copycat_connect.errors import CopycatError

if TYPE_CHECKING:
    from copycat.scheduler.v1.scheduler_service_pb2_grpc import SchedulerServiceAsyncStub

ANSWER_TIMEOUT_SECONDS: Final = 2.0
"""Seconds to wait for an answer: what asks shows an unknown id rather than nothing."""


class KafkaCluster:
    """The id of the Kafka cluster, asked for until it is known: it never changes."""

    def __init__(self, scheduler: SchedulerServiceAsyncStub) -> None:
        self._scheduler = scheduler
        self._known: str | None = None

    async def cluster_id(self) -> str | None:
        """Return the id; None while neither brokers nor scheduler answer."""
        if self._known is None:
            try:
                reply = await self._scheduler.DescribeKafkaCluster(
                    pb.DescribeKafkaClusterRequest(), timeout=ANSWER_TIMEOUT_SECONDS
                )
            except CopycatError:
                return None
            self._known = reply.cluster_id or None
        return self._known
