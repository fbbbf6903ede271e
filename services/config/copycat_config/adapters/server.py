"""The config service over gRPC: requests to commands, outcomes and views to responses."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

from copycat.config.v1 import config_service_pb2 as pb
from copycat.config.v1 import config_service_pb2_grpc as grpc_pb
from copycat.types.v1 import types_pb2
from copycat_rpc.server import RpcServer
from copycat_serving.reads import Rendering, read_state, revision_to_proto, stream_watch

from copycat_config.adapters import messages
from copycat_config.adapters.event_sourced import ConfigEvents
from copycat_config.adapters.fencing import Fencing
from copycat_config.domain import commands
from copycat_config.domain.errors import ConnectorExistsError, UnknownConnectorError
from copycat_config.domain.state import ConfigState
from copycat_config.domain.views import find_connector, get_connector

SERVICE = "copycat.config.v1.ConfigService"


def register(server: RpcServer, events: ConfigEvents, fencing: Fencing) -> None:
    """Let a server answer for the config topic, and fence former tasks."""
    server.add(grpc_pb.add_ConfigServiceServicer_to_server, ConfigServicer(events, fencing), SERVICE)


class ConfigServicer(grpc_pb.ConfigServiceServicer):
    """Every write answers once its effect is folded, with the revision at which it is visible (I4)."""

    def __init__(self, events: ConfigEvents, fencing: Fencing) -> None:
        self._events = events
        self._fencing = fencing
        self._listed = Rendering(messages.listed_message)

    async def PutConnector(self, request: pb.PutConnectorRequest, context: Any) -> pb.PutConnectorResponse:
        """Create a connector or replace its configuration."""
        created, state, revision = await self._put(messages.put_connector(request))
        return pb.PutConnectorResponse(
            created=created,
            connector=messages.connector_message(get_connector(state, request.name)),
            revision=revision,
        )

    async def DeleteConnector(
        self, request: pb.DeleteConnectorRequest, context: Any
    ) -> pb.DeleteConnectorResponse:
        """Remove a connector's configuration and target state."""
        return pb.DeleteConnectorResponse(
            revision=await self._execute(commands.DeleteConnector(request.name))
        )

    async def SetTargetState(
        self, request: pb.SetTargetStateRequest, context: Any
    ) -> pb.SetTargetStateResponse:
        """Set what a connector should do."""
        command = messages.set_target_state(request)
        return pb.SetTargetStateResponse(revision=await self._execute(command))

    async def PutTaskConfigs(
        self, request: pb.PutTaskConfigsRequest, context: Any
    ) -> pb.PutTaskConfigsResponse:
        """Publish a connector's task configurations as one set."""
        outcome = await self._events.execute(messages.put_task_configs(request))
        return pb.PutTaskConfigsResponse(
            changed=bool(outcome.events), revision=revision_to_proto(outcome.revision)
        )

    async def FenceTasks(self, request: pb.FenceTasksRequest, context: Any) -> pb.FenceTasksResponse:
        """Fence the tasks before a connector's newest ones."""
        fenced = await self._fencing.fence(request.connector)
        return pb.FenceTasksResponse(
            fenced=fenced.producers,
            task_generation=fenced.task_generation,
            revision=revision_to_proto(fenced.revision),
        )

    async def RequestRestart(
        self, request: pb.RequestRestartRequest, context: Any
    ) -> pb.RequestRestartResponse:
        """Log a restart request."""
        command = commands.RequestRestart(request.connector, request.include_tasks, request.only_failed)
        return pb.RequestRestartResponse(revision=await self._execute(command))

    async def SetLoggerLevel(
        self, request: pb.SetLoggerLevelRequest, context: Any
    ) -> pb.SetLoggerLevelResponse:
        """Log a cluster-wide log level."""
        command = commands.SetLoggerLevel(request.logger, request.level)
        return pb.SetLoggerLevelResponse(revision=await self._execute(command))

    async def GetConnector(self, request: pb.GetConnectorRequest, context: Any) -> pb.GetConnectorResponse:
        """Return one connector."""
        state, revision = await read_state(self._events, request)
        connector = messages.connector_message(get_connector(state, request.name))
        return pb.GetConnectorResponse(connector=connector, revision=revision)

    async def ListConnectors(
        self, request: pb.ListConnectorsRequest, context: Any
    ) -> pb.ListConnectorsResponse:
        """Return every connector, by name."""
        state, revision = await read_state(self._events, request)
        connectors = self._listed.messages(state.connectors)
        return pb.ListConnectorsResponse(connectors=connectors, revision=revision)

    async def WatchConnectors(
        self, request: pb.WatchConnectorsRequest, context: Any
    ) -> AsyncIterator[pb.WatchConnectorsResponse]:
        """Stream a snapshot, then every later change."""
        async for message in stream_watch(
            self._events,
            request,
            snapshot=messages.snapshot_messages,
            change=messages.change_messages,
            complete=messages.snapshot_complete,
            trace=messages.note_span,
        ):
            yield message

    async def _put(self, command: commands.PutConnector) -> tuple[bool, ConfigState, types_pb2.Revision]:
        """Try to create or to replace, and the other where that is refused: `created` must be certain."""
        known = find_connector(self._events.state, command.connector) is not None
        create = command.create_only or not (known or command.expected is not None)
        while True:
            try:
                outcome = await self._events.execute(
                    replace(command, create_only=create, replace_only=not create)
                )
            except (ConnectorExistsError, UnknownConnectorError):
                if command.create_only or command.expected is not None:
                    raise
                create = not create
            else:
                return create, outcome.state, revision_to_proto(outcome.revision)

    async def _execute(self, command: commands.ConfigCommand) -> types_pb2.Revision:
        return revision_to_proto((await self._events.execute(command)).revision)
