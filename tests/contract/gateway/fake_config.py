"""A config service in a dict."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from copycat.config.v1 import config_service_pb2 as pb
from copycat.config.v1.config_service_pb2_grpc import ConfigServiceServicer
from copycat.types.v1 import types_pb2
from copycat_connect.errors import CopycatError, ErrorCode
from copycat_rpc.messages import config_to_proto


class UnknownConnectorError(CopycatError):
    code = ErrorCode("connector.unknown", grpc="NOT_FOUND", http=404)


class ConnectorExistsError(CopycatError):
    code = ErrorCode("connector.exists", grpc="ALREADY_EXISTS", http=409)


class ConfigReplacedError(CopycatError):
    code = ErrorCode("connector.config_changed", grpc="ABORTED", http=409)


class FakeConfig(ConfigServiceServicer):
    """Keeps connectors; `fails` is raised by every write instead."""

    def __init__(self) -> None:
        self.connectors: dict[str, pb.Connector] = {}
        self.initial_states: dict[str, int] = {}
        self.restarts: list[pb.RequestRestartRequest] = []
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
        self.connectors[name] = pb.Connector(
            name=name,
            config=config_to_proto(full),
            target_state=state,  # type: ignore[arg-type] # enum values are ints
            tasks=[config_to_proto(task) for task in tasks],
        )

    async def FenceTasks(self, request: pb.FenceTasksRequest, context: Any) -> pb.FenceTasksResponse:
        self.fenced.append(request.connector)
        if isinstance(self.fencing, Exception):
            raise self.fencing
        if self.fencing is not None:
            self.fencing()
        return pb.FenceTasksResponse()

    async def PutConnector(self, request: pb.PutConnectorRequest, context: Any) -> pb.PutConnectorResponse:
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
        connector = pb.Connector(name=request.name, config=request.config, tasks=known.tasks if known else [])
        self.connectors[request.name] = connector
        return pb.PutConnectorResponse(created=known is None, connector=connector)

    async def DeleteConnector(
        self, request: pb.DeleteConnectorRequest, context: Any
    ) -> pb.DeleteConnectorResponse:
        self._may_write()
        self._known(request.name)
        del self.connectors[request.name]
        return pb.DeleteConnectorResponse()

    async def SetTargetState(
        self, request: pb.SetTargetStateRequest, context: Any
    ) -> pb.SetTargetStateResponse:
        self._may_write()
        connector = self._known(request.name)
        connector.target_state = request.target_state
        if request.target_state == types_pb2.TARGET_STATE_STOPPED:
            del connector.tasks[:]
        return pb.SetTargetStateResponse(revision=types_pb2.Revision(next={0: self.position}))

    async def RequestRestart(
        self, request: pb.RequestRestartRequest, context: Any
    ) -> pb.RequestRestartResponse:
        self._may_write()
        self._known(request.connector)
        self.restarts.append(request)
        return pb.RequestRestartResponse()

    async def SetLoggerLevel(
        self, request: pb.SetLoggerLevelRequest, context: Any
    ) -> pb.SetLoggerLevelResponse:
        self._may_write()
        self.levels.append((request.logger, request.level))
        return pb.SetLoggerLevelResponse()

    async def GetConnector(self, request: pb.GetConnectorRequest, context: Any) -> pb.GetConnectorResponse:
        self.asked_for = request.min_revision
        return pb.GetConnectorResponse(connector=self._known(request.name))

    async def ListConnectors(
        self, request: pb.ListConnectorsRequest, context: Any
    ) -> pb.ListConnectorsResponse:
        return pb.ListConnectorsResponse(
            connectors=[self.connectors[name] for name in sorted(self.connectors)]
        )

    def _known(self, name: str) -> pb.Connector:
        if name not in self.connectors:
            raise UnknownConnectorError("another text")
        return self.connectors[name]

    def _may_write(self) -> None:
        if self.fails is not None:
            raise self.fails
        self.position += 1
