"""Services behind a gateway that need no process: config, offsets and statuses in dicts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from copycat.config.v1 import config_service_pb2 as config_pb
from copycat.config.v1.config_service_pb2_grpc import ConfigServiceServicer
from copycat.offset.v1 import offset_service_pb2 as offset_pb
from copycat.offset.v1.offset_service_pb2_grpc import OffsetServiceServicer
from copycat.status.v1 import status_service_pb2 as status_pb
from copycat.status.v1.status_service_pb2_grpc import StatusServiceServicer
from copycat.types.v1 import types_pb2
from copycat_connect.errors import CopycatError, ErrorCode
from copycat_rpc.messages import config_from_proto, config_to_proto


class UnknownConnectorError(CopycatError):
    code = ErrorCode("connector.unknown", grpc="NOT_FOUND", http=404)


class ConnectorExistsError(CopycatError):
    code = ErrorCode("connector.exists", grpc="ALREADY_EXISTS", http=409)


class ConfigReplacedError(CopycatError):
    code = ErrorCode("connector.config_changed", grpc="ABORTED", http=409)


class FakeConfig(ConfigServiceServicer):
    """Keeps connectors; `fails` is raised by every write instead."""

    def __init__(self) -> None:
        self.connectors: dict[str, config_pb.Connector] = {}
        self.initial_states: dict[str, int] = {}
        self.restarts: list[config_pb.RequestRestartRequest] = []
        self.levels: list[tuple[str, str]] = []
        self.fails: Exception | None = None
        self.between: Callable[[], None] | None = None
        """Called once, before the next write."""
        self.fenced: list[str] = []
        self.fencing: Exception | Callable[[], object] | None = None
        """Raised by fencing, or called by it."""
        self.position = 0
        self.asked_for = types_pb2.Revision()

    def has(
        self,
        name: str,
        config: Mapping[str, str | None] | None = None,
        tasks: Sequence[Mapping[str, str | None]] = (),
        state: int = types_pb2.TARGET_STATE_STARTED,
    ) -> None:
        """Put a connector there."""
        full: dict[str, str | None] = {"connector.class": "FileStreamSource", "name": name, **(config or {})}
        self.connectors[name] = config_pb.Connector(
            name=name,
            config=config_to_proto(full),
            target_state=state,  # type: ignore[arg-type] # enum values are ints
            tasks=[config_to_proto(task) for task in tasks],
        )

    async def FenceTasks(
        self, request: config_pb.FenceTasksRequest, context: Any
    ) -> config_pb.FenceTasksResponse:
        self.fenced.append(request.connector)
        if isinstance(self.fencing, Exception):
            raise self.fencing
        if self.fencing is not None:
            self.fencing()
        return config_pb.FenceTasksResponse()

    async def PutConnector(
        self, request: config_pb.PutConnectorRequest, context: Any
    ) -> config_pb.PutConnectorResponse:
        self._may_write()
        known = self.connectors.get(request.name)
        if known and request.create_only:
            raise ConnectorExistsError("another text")
        if self.between is not None:
            between, self.between = self.between, None
            between()
            known = self.connectors.get(request.name)
        if request.HasField("expected") and (known is None or known.config != request.expected):
            raise ConfigReplacedError(request.name)
        self.initial_states[request.name] = request.initial_state
        connector = config_pb.Connector(
            name=request.name, config=request.config, tasks=known.tasks if known else []
        )
        self.connectors[request.name] = connector
        return config_pb.PutConnectorResponse(created=known is None, connector=connector)

    async def DeleteConnector(
        self, request: config_pb.DeleteConnectorRequest, context: Any
    ) -> config_pb.DeleteConnectorResponse:
        self._may_write()
        self._known(request.name)
        del self.connectors[request.name]
        return config_pb.DeleteConnectorResponse()

    async def SetTargetState(
        self, request: config_pb.SetTargetStateRequest, context: Any
    ) -> config_pb.SetTargetStateResponse:
        self._may_write()
        connector = self._known(request.name)
        connector.target_state = request.target_state
        if request.target_state == types_pb2.TARGET_STATE_STOPPED:
            del connector.tasks[:]
        return config_pb.SetTargetStateResponse(revision=types_pb2.Revision(next={0: self.position}))

    async def RequestRestart(
        self, request: config_pb.RequestRestartRequest, context: Any
    ) -> config_pb.RequestRestartResponse:
        self._may_write()
        self._known(request.connector)
        self.restarts.append(request)
        return config_pb.RequestRestartResponse()

    async def SetLoggerLevel(
        self, request: config_pb.SetLoggerLevelRequest, context: Any
    ) -> config_pb.SetLoggerLevelResponse:
        self._may_write()
        self.levels.append((request.logger, request.level))
        return config_pb.SetLoggerLevelResponse()

    async def GetConnector(
        self, request: config_pb.GetConnectorRequest, context: Any
    ) -> config_pb.GetConnectorResponse:
        self.asked_for = request.min_revision
        return config_pb.GetConnectorResponse(connector=self._known(request.name))

    async def ListConnectors(
        self, request: config_pb.ListConnectorsRequest, context: Any
    ) -> config_pb.ListConnectorsResponse:
        return config_pb.ListConnectorsResponse(
            connectors=[self.connectors[name] for name in sorted(self.connectors)]
        )

    def _known(self, name: str) -> config_pb.Connector:
        if name not in self.connectors:
            raise UnknownConnectorError("another text")
        return self.connectors[name]

    def _may_write(self) -> None:
        if self.fails is not None:
            raise self.fails
        self.position += 1


class GroupActiveError(CopycatError):
    code = ErrorCode("group.active", grpc="FAILED_PRECONDITION", http=500)


class FakeOffset(OffsetServiceServicer):
    """Keeps offsets by connector and by group; `fails` or `fails_writes` is raised instead."""

    def __init__(self) -> None:
        self.source: dict[str, dict[bytes, bytes]] = {}
        self.groups: dict[str, dict[tuple[str, int], int]] = {}
        self.overrides: list[dict[str, str | None]] = []
        self.fails: Exception | None = None
        self.fails_writes: Exception | None = None
        self.cannot_remember: Exception | None = None
        self.changes: dict[str, offset_pb.OffsetsChange] = {}
        self.effects: list[offset_pb.SinkEffect] = []
        """What a change of positions would do, whatever is asked."""
        self.asked: list[offset_pb.DescribeSinkMovesRequest] = []

    async def ListSourceOffsets(
        self, request: offset_pb.ListSourceOffsetsRequest, context: Any
    ) -> offset_pb.ListSourceOffsetsResponse:
        self._may_answer()
        known = self.source.get(request.connector, {})
        return offset_pb.ListSourceOffsetsResponse(
            offsets=[types_pb2.SourceOffset(partition=key, offset=value) for key, value in known.items()]
        )

    async def ListSinkOffsets(
        self, request: offset_pb.ListSinkOffsetsRequest, context: Any
    ) -> offset_pb.ListSinkOffsetsResponse:
        self._may_answer()
        self.overrides.append(config_from_proto(request.overrides))
        known = self.groups.get(request.group_id, {})
        return offset_pb.ListSinkOffsetsResponse(
            offsets=[
                types_pb2.TopicPartitionOffset(topic=topic, partition=partition, offset=offset)
                for (topic, partition), offset in known.items()
            ]
        )

    async def AlterSourceOffsets(
        self, request: offset_pb.AlterSourceOffsetsRequest, context: Any
    ) -> offset_pb.AlterSourceOffsetsResponse:
        self._may_write()
        known = self.source.setdefault(request.connector, {})
        for entry in request.offsets:
            if entry.HasField("offset"):
                known[entry.partition] = entry.offset
            else:
                known.pop(entry.partition, None)
        return offset_pb.AlterSourceOffsetsResponse()

    async def AlterSinkOffsets(
        self, request: offset_pb.AlterSinkOffsetsRequest, context: Any
    ) -> offset_pb.AlterSinkOffsetsResponse:
        self._may_write()
        self.overrides.append(config_from_proto(request.overrides))
        known = self.groups.setdefault(request.group_id, {})
        known |= {(entry.topic, entry.partition): entry.offset for entry in request.offsets}
        for entry in request.removed:
            known.pop((entry.topic, entry.partition), None)
        return offset_pb.AlterSinkOffsetsResponse()

    async def DeleteSinkOffsets(
        self, request: offset_pb.DeleteSinkOffsetsRequest, context: Any
    ) -> offset_pb.DeleteSinkOffsetsResponse:
        self._may_write()
        self.overrides.append(config_from_proto(request.overrides))
        self.groups.pop(request.group_id, None)
        return offset_pb.DeleteSinkOffsetsResponse()

    async def DescribeSinkMoves(
        self, request: offset_pb.DescribeSinkMovesRequest, context: Any
    ) -> offset_pb.DescribeSinkMovesResponse:
        self._may_answer()
        self.asked.append(request)
        return offset_pb.DescribeSinkMovesResponse(effects=self.effects)

    async def RememberChange(
        self, request: offset_pb.RememberChangeRequest, context: Any
    ) -> offset_pb.RememberChangeResponse:
        if self.cannot_remember is not None:
            raise self.cannot_remember
        self.changes[request.change.connector] = request.change
        return offset_pb.RememberChangeResponse()

    async def GetLastChange(
        self, request: offset_pb.GetLastChangeRequest, context: Any
    ) -> offset_pb.GetLastChangeResponse:
        return offset_pb.GetLastChangeResponse(change=self.changes.get(request.connector))

    def _may_answer(self) -> None:
        if self.fails is not None:
            raise self.fails

    def _may_write(self) -> None:
        self._may_answer()
        if self.fails_writes is not None:
            raise self.fails_writes


class UnknownStatusError(CopycatError):
    code = ErrorCode("status.unknown", grpc="NOT_FOUND", http=404)


class TrackingDisabledError(CopycatError):
    code = ErrorCode("topic.tracking_disabled", grpc="FAILED_PRECONDITION", http=403)

    def __init__(self) -> None:
        super().__init__("Topic tracking is disabled.")


class ResetDisabledError(CopycatError):
    code = ErrorCode("topic.reset_disabled", grpc="FAILED_PRECONDITION", http=403)

    def __init__(self) -> None:
        super().__init__("Topic tracking reset is disabled.")


class FakeStatus(StatusServiceServicer):
    """Keeps statuses and active topics."""

    def __init__(self) -> None:
        self.statuses: dict[str, status_pb.ConnectorStatus] = {}
        self.topics: dict[str, list[str]] = {}
        self.resets: list[str] = []
        self.hides_topics: CopycatError | None = None
        """Why topics are not shown."""
        self.keeps_topics: CopycatError | None = None
        """Why topics are not reset."""
        self.revision = types_pb2.Revision()
        self.asked_for = types_pb2.Revision()
        """Least revision of the last look at topics."""

    def says(
        self,
        connector: str,
        state: str,
        worker: str = "h1:8083",
        *,
        task: int | None = None,
        trace: str | None = None,
        version: str | None = None,
        **additions: Any,
    ) -> None:
        """Record what a worker says; `additions` are further fields of the status."""
        status = status_pb.Status(
            state=types_pb2.State.Value(f"STATE_{state}"),
            worker_id=worker,
            trace=trace,
            version=version,
            **additions,
        )
        known = self.statuses.setdefault(connector, status_pb.ConnectorStatus(connector=connector))
        (known.status if task is None else known.tasks[task]).CopyFrom(status)

    async def GetConnectorStatus(
        self, request: status_pb.GetConnectorStatusRequest, context: Any
    ) -> status_pb.GetConnectorStatusResponse:
        if request.connector not in self.statuses:
            raise UnknownStatusError("another text")
        return status_pb.GetConnectorStatusResponse(status=self.statuses[request.connector])

    async def ListConnectorStatuses(
        self, request: status_pb.ListConnectorStatusesRequest, context: Any
    ) -> status_pb.ListConnectorStatusesResponse:
        return status_pb.ListConnectorStatusesResponse(statuses=self.statuses.values())

    async def ListTopics(
        self, request: status_pb.ListTopicsRequest, context: Any
    ) -> status_pb.ListTopicsResponse:
        self.asked_for = request.min_revision
        if self.hides_topics is not None:
            raise self.hides_topics
        return status_pb.ListTopicsResponse(topics=self.topics.get(request.connector, []))

    async def ResetTopics(
        self, request: status_pb.ResetTopicsRequest, context: Any
    ) -> status_pb.ResetTopicsResponse:
        if self.keeps_topics is not None:
            raise self.keeps_topics
        self.resets.append(request.connector)
        self.topics.pop(request.connector, None)
        return status_pb.ResetTopicsResponse(revision=self.revision)
