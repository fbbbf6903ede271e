"""The status service: what connectors and tasks do, and the topics they use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

from copycat.status.v1 import status_service_pb2 as pb
from copycat.status.v1.status_service_pb2_grpc import StatusServiceStub
from copycat.types.v1 import types_pb2
from copycat_connect.cluster import Instance
from copycat_rpc.messages import instance_from_proto

from copycat_client.revisions import Revision, revision_message, revision_of
from copycat_client.watching import Watch, watch

if TYPE_CHECKING:
    import grpc
    from copycat.status.v1.status_service_pb2_grpc import StatusServiceAsyncStub


class State(Enum):
    """What a connector or task does."""

    UNASSIGNED = types_pb2.STATE_UNASSIGNED
    RUNNING = types_pb2.STATE_RUNNING
    PAUSED = types_pb2.STATE_PAUSED
    STOPPED = types_pb2.STATE_STOPPED
    FAILED = types_pb2.STATE_FAILED
    RESTARTING = types_pb2.STATE_RESTARTING


class Health(Enum):
    """How a connector with its tasks is."""

    UNSPECIFIED = pb.HEALTH_UNSPECIFIED
    """The service is too old to say."""
    HEALTHY = pb.HEALTH_HEALTHY
    DEGRADED = pb.HEALTH_DEGRADED
    FAILED = pb.HEALTH_FAILED


@dataclass(frozen=True, slots=True)
class Status:
    """What one connector or task does."""

    state: State
    """What it does."""
    worker_id: str
    """The worker that says so."""
    generation: int
    """The assignment it runs under."""
    trace: str | None = None
    """Why it failed."""
    version: str | None = None
    """Version of its plugin, where known."""
    since_ms: int | None = field(default=None, compare=False)
    """When this began, milliseconds since the epoch; the service's own time where a report does not say."""
    reason: str | None = None
    """Why it is not plainly RUNNING, in one line; only `get` and `list` know it."""


@dataclass(frozen=True, slots=True)
class InstanceStatus:
    """A status and whose it is."""

    instance: Instance
    """Connector or task."""
    status: Status
    """What it does."""


@dataclass(frozen=True, slots=True)
class Forgotten:
    """An instance has no status any more."""

    instance: Instance
    """Connector or task."""


@dataclass(frozen=True, slots=True)
class ConnectorStatus:
    """The status of a connector and those of its tasks."""

    connector: str
    """The connector."""
    status: Status | None
    """Its own; nothing while only tasks have reported."""
    tasks: Mapping[int, Status]
    """Those of its tasks, by number."""
    health: Health = Health.UNSPECIFIED
    """All of them summed up."""
    health_reason: str = ""
    """Why it is not healthy, in one line."""


StatusChange: TypeAlias = InstanceStatus | Forgotten


class Statuses:
    """Every write returns once reads show it; a status of an older generation is dropped silently (I2)."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._stub: StatusServiceAsyncStub = StatusServiceStub(channel)

    async def report(self, statuses: Sequence[InstanceStatus], *, timeout: float | None = None) -> Revision:
        """Record at most a thousand statuses in their order; the same again writes nothing.

        Raises:
            RemoteError: status.invalid.
        """
        request = pb.ReportStatusesRequest(statuses=map(_status_message, statuses))
        return revision_of((await self._stub.ReportStatuses(request, timeout=timeout)).revision)

    async def report_topics(
        self,
        connector: str,
        task: int,
        topics: Iterable[str],
        *,
        discovered_ms: int,
        timeout: float | None = None,
    ) -> Revision:
        """Record topics a task used, first seen at `discovered_ms`; known ones write nothing."""
        request = pb.ReportTopicsRequest(
            connector=connector, task=task, topics=topics, discover_timestamp_ms=discovered_ms
        )
        return revision_of((await self._stub.ReportTopics(request, timeout=timeout)).revision)

    async def forget(
        self, connector: str, tasks: Iterable[int] = (), *, timeout: float | None = None
    ) -> Revision:
        """Forget some tasks' statuses; without tasks the connector's, all its tasks' and its topics."""
        request = pb.ForgetStatusesRequest(connector=connector, tasks=tasks)
        return revision_of((await self._stub.ForgetStatuses(request, timeout=timeout)).revision)

    async def reset_topics(self, connector: str, *, timeout: float | None = None) -> Revision:
        """Forget the topics a connector used; those it still uses come back with its next records.

        Raises:
            RemoteError: topic.tracking_disabled, topic.reset_disabled (topic.tracking.allow.reset).
        """
        request = pb.ResetTopicsRequest(connector=connector)
        return revision_of((await self._stub.ResetTopics(request, timeout=timeout)).revision)

    async def get(
        self, connector: str, *, min_revision: Revision | None = None, timeout: float | None = None
    ) -> ConnectorStatus:
        """Return what a connector and its tasks do.

        Args:
            connector: The connector.
            min_revision: Wait until the answering instance shows this much.
            timeout: Seconds; 10 when nothing is said.

        Raises:
            RemoteError: status.unknown.
            UnavailableError: `min_revision` was not reached in time.
        """
        request = pb.GetConnectorStatusRequest(
            connector=connector, min_revision=revision_message(min_revision)
        )
        return _connector_status((await self._stub.GetConnectorStatus(request, timeout=timeout)).status)

    async def list(
        self, *, min_revision: Revision | None = None, timeout: float | None = None
    ) -> tuple[ConnectorStatus, ...]:
        """Return the statuses of every connector, by name; `min_revision` as for `get`."""
        request = pb.ListConnectorStatusesRequest(min_revision=revision_message(min_revision))
        reply = await self._stub.ListConnectorStatuses(request, timeout=timeout)
        return tuple(map(_connector_status, reply.statuses))

    async def topics(
        self, connector: str, *, min_revision: Revision | None = None, timeout: float | None = None
    ) -> frozenset[str]:
        """Return the topics a connector has used, none for an unknown one; `min_revision` as for `get`.

        Raises:
            RemoteError: topic.tracking_disabled (topic.tracking.enable).
            UnavailableError: `min_revision` was not reached in time.
        """
        request = pb.ListTopicsRequest(connector=connector, min_revision=revision_message(min_revision))
        reply = await self._stub.ListTopics(request, timeout=timeout)
        return frozenset(reply.topics)

    def watch(self, after: Revision | None = None) -> Watch[InstanceStatus, StatusChange]:
        """Yield every status, then every change in log order, for ever; guarantees as of `Configs.watch`."""
        return watch(
            lambda revision: self._stub.WatchStatuses(pb.WatchStatusesRequest(after_revision=revision)),
            after,
            item=lambda message: _instance_status(message.status),
            change=_change,
        )


def _status_message(reported: InstanceStatus) -> pb.InstanceStatus:
    status, instance = reported.status, reported.instance
    return pb.InstanceStatus(
        connector=instance.connector,
        task=instance.task,
        status=pb.Status(
            state=status.state.value,
            trace=status.trace,
            worker_id=status.worker_id,
            generation=status.generation,
            version=status.version,
            since_ms=status.since_ms or 0,
        ),
    )


def _status(message: pb.Status) -> Status:
    return Status(
        state=State(message.state),
        worker_id=message.worker_id,
        generation=message.generation,
        trace=message.trace if message.HasField("trace") else None,
        version=message.version if message.HasField("version") else None,
        since_ms=message.since_ms or None,
        reason=message.reason if message.HasField("reason") else None,
    )


def _instance_status(message: pb.InstanceStatus) -> InstanceStatus:
    return InstanceStatus(instance_from_proto(message), _status(message.status))


def _connector_status(message: pb.ConnectorStatus) -> ConnectorStatus:
    return ConnectorStatus(
        connector=message.connector,
        status=_status(message.status) if message.HasField("status") else None,
        tasks={task: _status(message.tasks[task]) for task in sorted(message.tasks)},
        health=Health(message.health),
        health_reason=message.health_reason,
    )


def _change(message: pb.WatchStatusesResponse) -> StatusChange:
    if message.HasField("removed"):
        return Forgotten(instance_from_proto(message.removed))
    return _instance_status(message.status)
