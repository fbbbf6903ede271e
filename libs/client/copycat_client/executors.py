"""The executors: plugins, validation and single restarts, asked of one worker."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from copycat.executor.v1 import executor_service_pb2 as pb
from copycat.executor.v1.executor_service_pb2_grpc import ExecutorServiceStub
from copycat.types.v1 import types_pb2
from copycat_connect.cluster import Config, Instance
from copycat_connect.errors import UnavailableError
from copycat_rpc.channel import open_channel
from copycat_rpc.messages import config_to_proto
from copycat_rpc.tls import ServicesTls

from copycat_client.offset_changes import (
    SourceEffect,
    SourceMove,
    millis,
    move_messages,
    source_effect,
)
from copycat_client.offsets import Position, SourceOffset, offset_messages, source_offset
from copycat_client.plugins import ConfigKey, Plugin, Validation, config_key, plugin_of, validation
from copycat_client.scheduler import Scheduler

if TYPE_CHECKING:
    import grpc
    from copycat.executor.v1.executor_service_pb2_grpc import ExecutorServiceAsyncStub

AUTHOR_CODE_TIMEOUT_SECONDS = 90.0
"""Deadline of calls that run author code, as that of the REST interface."""
RESET = -1
"""Stands for a sink position to forget."""


class Executor:
    """One worker. Author code runs apart from it: a plugin that hangs costs its caller the deadline."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._stub: ExecutorServiceAsyncStub = ExecutorServiceStub(channel)

    async def plugins(self, *, timeout: float | None = None) -> tuple[Plugin, ...]:
        """Return the plugins this worker can load, in Kafka Connect's order."""
        reply = await self._stub.ListPlugins(pb.ListPluginsRequest(), timeout=timeout)
        return tuple(map(plugin_of, reply.plugins))

    async def plugin_config(self, plugin: str, *, timeout: float | None = None) -> tuple[ConfigKey, ...]:
        """Return the config keys of a plugin, named by class or alias: its own first.

        Raises:
            RemoteError: plugin.unknown.
        """
        reply = await self._stub.GetPluginConfig(pb.GetPluginConfigRequest(plugin=plugin), timeout=timeout)
        return tuple(map(config_key, reply.keys))

    async def validate(self, config: Config, *, timeout: float = AUTHOR_CODE_TIMEOUT_SECONDS) -> Validation:
        """Check a connector's configuration and change nothing; what is wrong is an answer, no error.

        Raises:
            RemoteError: plugin.connector_missing or plugin.connector_unknown (`connector.class`),
                plugin.hangs (the text names the stage), plugin.crashed, config.invalid (a config provider).
        """
        request = pb.ValidateConnectorRequest(config=config_to_proto(config))
        return validation(await self._stub.ValidateConnector(request, timeout=timeout))

    async def restart_connector(
        self, connector: str, *, timeout: float = AUTHOR_CODE_TIMEOUT_SECONDS
    ) -> None:
        """Stop and start a connector of this worker; returns once it runs. Each call is a restart.

        Raises:
            RemoteError: instance.unassigned (another worker runs it, or none).
        """
        await self._stub.RestartConnector(pb.RestartConnectorRequest(connector=connector), timeout=timeout)

    async def restart_task(
        self, connector: str, task: int, *, timeout: float = AUTHOR_CODE_TIMEOUT_SECONDS
    ) -> None:
        """Stop and start a task of this worker; returns once it starts. Each call is a restart.

        Raises:
            RemoteError: instance.unassigned.
        """
        await self._stub.RestartTask(pb.RestartTaskRequest(connector=connector, task=task), timeout=timeout)

    async def alter_offsets(
        self,
        config: Config,
        *,
        source: Sequence[SourceOffset] = (),
        sink: Sequence[Position] = (),
        timeout: float = AUTHOR_CODE_TIMEOUT_SECONDS,
    ) -> bool:
        """Ask a connector whether it can go on from these offsets; the offsets are not changed here.

        Returns:
            Whether the connector vouches for them.

        Raises:
            RemoteError: Whatever the connector raised against them, plugin.hangs, plugin.crashed.
        """
        request = pb.AlterOffsetsRequest(
            config=config_to_proto(config),
            source_offsets=offset_messages(source),
            sink_offsets=[
                types_pb2.TopicPartitionOffset(
                    topic=each.topic,
                    partition=each.partition,
                    offset=RESET if each.offset is None else each.offset,
                )
                for each in sink
            ],
        )
        return (await self._stub.AlterOffsets(request, timeout=timeout)).handled

    async def explain_offsets(
        self,
        config: Config,
        moves: Sequence[SourceMove],
        *,
        timeout: float = AUTHOR_CODE_TIMEOUT_SECONDS,
    ) -> tuple[SourceEffect, ...] | None:
        """Ask a source connector what moves of its offsets would do; nothing where it cannot say.

        Raises:
            RemoteError: Whatever the connector raised, plugin.hangs, plugin.crashed.
        """
        request = pb.ExplainOffsetsRequest(config=config_to_proto(config), moves=move_messages(moves))
        reply = await self._stub.ExplainOffsets(request, timeout=timeout)
        return tuple(map(source_effect, reply.effects)) if reply.known else None

    async def find_offsets(
        self,
        config: Config,
        offsets: Sequence[SourceOffset],
        time: datetime,
        *,
        timeout: float = AUTHOR_CODE_TIMEOUT_SECONDS,
    ) -> tuple[SourceOffset, ...] | None:
        """Ask a source connector for its offsets of a time; nothing where it cannot find any.

        Raises:
            RemoteError: Whatever the connector raised, plugin.hangs, plugin.crashed.
        """
        request = pb.FindOffsetsRequest(
            config=config_to_proto(config), offsets=offset_messages(offsets), time=millis(time)
        )
        reply = await self._stub.FindOffsets(request, timeout=timeout)
        return tuple(map(source_offset, reply.offsets)) if reply.known else None


class Executors:
    """Finds workers through the scheduler; keeps a connection to each it was asked for."""

    def __init__(self, scheduler: Scheduler, *, secret: str = "", tls: ServicesTls | None = None) -> None:
        self._scheduler = scheduler
        self._secret = secret
        self._tls = tls
        self._channels: dict[str, grpc.aio.Channel] = {}

    def at(self, worker_id: str) -> Executor:
        """Return a worker by its name, which is its address."""
        if worker_id not in self._channels:
            self._channels[worker_id] = open_channel(
                [worker_id], secret=self._secret, tls=self._tls, standby=False
            )
        return Executor(self._channels[worker_id])

    async def any(self) -> Executor:
        """Return a live worker, for what every one of them can answer.

        Raises:
            UnavailableError: No executor stays connected.
        """
        for worker in await self._scheduler.workers():
            if not worker.leaving:
                return self.at(worker.worker_id)
        raise UnavailableError("There is no live worker. Start an executor, or ask again once it has joined")

    async def running(self, connector: str, task: int | None = None) -> Executor:
        """Return the worker that a connector, or a task of it, is assigned to.

        Raises:
            UnavailableError: None is: it does not exist, or is moving at the moment.
        """
        wanted = Instance(connector, task)
        for assignment in await self._scheduler.assignments():
            if assignment.instance == wanted:
                return self.at(assignment.worker_id)
        what = f"connector {connector}" if task is None else f"task {task} of connector {connector}"
        raise UnavailableError(f"No worker runs {what}. Ask again once it is assigned")

    async def close(self) -> None:
        """Close every connection."""
        channels, self._channels = self._channels, {}
        for channel in channels.values():
            await channel.close(grace=None)
