"""ExecutorService: what the gateway asks of this executor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import grpc
from copycat.executor.v1 import executor_service_pb2 as pb
from copycat.executor.v1 import executor_service_pb2_grpc
from copycat.types.v1 import types_pb2
from copycat_connect.cluster import Instance
from copycat_rpc.messages import config_from_proto

from copycat_executor.children.connector_processes import ConnectorProcesses
from copycat_executor.pipes.connector_messages import (
    AlterOffsets,
    DescribeKeys,
    ExplainOffsets,
    FindOffsets,
    ListPlugins,
    ProposedMove,
    ProposedOffset,
    SinkOffset,
    ValidateConfig,
)
from copycat_executor.pipes.plugin_facts import KeyDefinition, PluginListing, ValidatedKey, ValidationFacts
from copycat_executor.worker.restarting import Restarting

CallContext: TypeAlias = "grpc.aio.ServicerContext[object, object]"

SERVICE_NAME = "copycat.executor.v1.ExecutorService"
#: Author code gets this share of the caller's time; the rest is for the answer that says what hangs.
AUTHOR_CODE_TIME_SHARE = 0.9
VALIDATION_STAGE = "waiting for a new thread to become available for connector validation"


class ExecutorServer(executor_service_pb2_grpc.ExecutorServiceServicer):
    """Serves the gateway; author code runs in processes of connectors under a deadline."""

    def __init__(self, processes: ConnectorProcesses, restarting: Restarting, deadline: float) -> None:
        """`deadline` is what author code may take where the caller gives more time, seconds."""
        self._processes = processes
        self._restarting = restarting
        self._deadline = deadline

    async def ListPlugins(
        self, request: pb.ListPluginsRequest, context: CallContext
    ) -> pb.ListPluginsResponse:
        """List the plugins this executor can load."""
        found = await self._processes.ask(ListPlugins(), "loading the plugins", self._patience(context))
        return _plugins(found)

    async def GetPluginConfig(
        self, request: pb.GetPluginConfigRequest, context: CallContext
    ) -> pb.GetPluginConfigResponse:
        """Return the config keys of one plugin."""
        stage = f"retrieving the configuration definition of plugin {request.plugin}"
        version = request.version if request.HasField("version") else None
        call = DescribeKeys(request.plugin, version)
        found = await self._processes.ask(call, stage, self._patience(context))
        return _keys(found)

    async def ValidateConnector(
        self, request: pb.ValidateConnectorRequest, context: CallContext
    ) -> pb.ValidateConnectorResponse:
        """Validate a connector's configuration with its plugin, within the caller's deadline."""
        call = ValidateConfig(config_from_proto(request.config))
        found = await self._processes.ask(call, VALIDATION_STAGE, self._patience(context))
        return _validation(found)

    async def RestartConnector(
        self, request: pb.RestartConnectorRequest, context: CallContext
    ) -> pb.RestartConnectorResponse:
        """Restart a connector that runs here."""
        await self._restarting.connector(request.connector)
        return pb.RestartConnectorResponse()

    async def RestartTask(
        self, request: pb.RestartTaskRequest, context: CallContext
    ) -> pb.RestartTaskResponse:
        """Restart a task that runs here."""
        await self._restarting.task(Instance(request.connector, request.task))
        return pb.RestartTaskResponse()

    async def AlterOffsets(
        self, request: pb.AlterOffsetsRequest, context: CallContext
    ) -> pb.AlterOffsetsResponse:
        """Call the connector's alterOffsets hook."""
        config = config_from_proto(request.config)
        call = AlterOffsets(
            config,
            source=tuple(_source(each) for each in request.source_offsets),
            sink=tuple(_sink(each) for each in request.sink_offsets),
        )
        stage = f"modifying offsets for connector {config.get('name')}"
        handled = await self._processes.ask(call, stage, self._patience(context))
        return pb.AlterOffsetsResponse(handled=handled)

    async def ExplainOffsets(
        self, request: pb.ExplainOffsetsRequest, context: CallContext
    ) -> pb.ExplainOffsetsResponse:
        """Ask a source connector what moves of its offsets would do."""
        config = config_from_proto(request.config)
        call = ExplainOffsets(config, tuple(_move(each) for each in request.moves))
        stage = f"asking what a change of offsets would do of connector {config.get('name')}"
        found = await self._processes.ask(call, stage, self._patience(context))
        effects = [
            pb.OffsetsEffect()
            if each is None
            else pb.OffsetsEffect(repeated_count=each.repeated, skipped_count=each.skipped, unit=each.unit)
            for each in found or ()
        ]
        return pb.ExplainOffsetsResponse(known=found is not None, effects=effects)

    async def FindOffsets(
        self, request: pb.FindOffsetsRequest, context: CallContext
    ) -> pb.FindOffsetsResponse:
        """Ask a source connector for its offsets of a time."""
        config = config_from_proto(request.config)
        call = FindOffsets(config, tuple(_source(each) for each in request.offsets), request.time)
        stage = f"asking for the offsets of a time of connector {config.get('name')}"
        found = await self._processes.ask(call, stage, self._patience(context))
        offsets = [
            types_pb2.SourceOffset(
                partition=each.partition.encode(),
                offset=None if each.offset is None else each.offset.encode(),
            )
            for each in found or ()
        ]
        return pb.FindOffsetsResponse(known=found is not None, offsets=offsets)

    def _patience(self, context: CallContext) -> float:
        """Return how long author code may take to answer this caller, seconds."""
        remaining = context.time_remaining()
        return (
            self._deadline if remaining is None else min(self._deadline, AUTHOR_CODE_TIME_SHARE * remaining)
        )


def _source(offset: types_pb2.SourceOffset) -> ProposedOffset:
    return ProposedOffset(
        offset.partition.decode(), offset.offset.decode() if offset.HasField("offset") else None
    )


def _move(move: pb.OffsetsMove) -> ProposedMove:
    return ProposedMove(
        move.partition.decode(),
        move.before.decode() if move.HasField("before") else None,
        move.after.decode() if move.HasField("after") else None,
    )


def _sink(offset: types_pb2.TopicPartitionOffset) -> SinkOffset:
    return SinkOffset(offset.topic, offset.partition, offset.offset if offset.offset >= 0 else None)


def _plugins(found: PluginListing) -> pb.ListPluginsResponse:
    """Write the plugins, and those that cannot be loaded."""
    return pb.ListPluginsResponse(
        plugins=[
            pb.Plugin(class_name=each.class_name, type=each.kind, version=each.version, aliases=each.aliases)
            for each in found.plugins
        ],
        unloadable=[pb.UnloadablePlugin(**each.as_map()) for each in found.unloadable],
    )


def _keys(found: Sequence[KeyDefinition]) -> pb.GetPluginConfigResponse:
    """Write the keys of a plugin."""
    return pb.GetPluginConfigResponse(keys=[_key(each) for each in found])


def _validation(found: ValidationFacts) -> pb.ValidateConnectorResponse:
    """Write what validation found."""
    return pb.ValidateConnectorResponse(
        name=found.name,
        type=found.kind,
        error_count=found.error_count,
        groups=found.groups,
        configs=[_validated(each) for each in found.configs],
    )


def _validated(found: ValidatedKey) -> pb.ConfigInfo:
    return pb.ConfigInfo(
        definition=None if found.definition is None else _key(found.definition),
        value=pb.ConfigValueInfo(
            name=found.name,
            value=found.value,
            recommended_values=found.recommended,
            errors=found.errors,
            visible=found.visible,
        ),
    )


def _key(found: KeyDefinition) -> pb.ConfigKeyInfo:
    return pb.ConfigKeyInfo(
        name=found.name,
        type=found.type,
        required=found.required,
        default_value=found.default,
        importance=found.importance,
        documentation=found.documentation,
        group=found.group,
        width=found.width,
        display_name=found.display_name,
        dependents=found.dependents,
        order=found.order,
    )
