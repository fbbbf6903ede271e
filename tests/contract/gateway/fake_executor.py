"""An executor with three plugins and no processes."""

from __future__ import annotations

import asyncio
from typing import Any

from copycat.executor.v1 import executor_service_pb2 as pb
from copycat.executor.v1.executor_service_pb2_grpc import ExecutorServiceServicer
from copycat.types.v1 import types_pb2
from copycat_connect.errors import CopycatError, ErrorCode
from copycat_connect.plugin.errors import (
    NoSuchVersionError,
    UnknownConnectorClassError,
    UnknownPluginError,
)
from copycat_connect.plugin.versions import version_range
from copycat_rpc.messages import config_from_proto

SOURCE_CLASS = "org.apache.kafka.connect.file.FileStreamSourceConnector"
SINK_CLASS = "org.apache.kafka.connect.file.FileStreamSinkConnector"
TRANSFORM_CLASS = "org.apache.kafka.connect.transforms.HoistField$Value"
PLUGINS = (
    pb.Plugin(class_name=SINK_CLASS, type="sink", version="1.0", aliases=["FileStreamSink"]),
    pb.Plugin(class_name=SOURCE_CLASS, type="source", aliases=["FileStreamSource"]),
    pb.Plugin(class_name=TRANSFORM_CLASS, type="transformation", version="1.0"),
)
BROKEN = pb.UnloadablePlugin(
    package="acme", package_version="2.1", entry_point="orders = acme.plugin", reason="ImportError: no driver"
)
TOPIC_KEY = pb.ConfigKeyInfo(
    name="topic", type="STRING", required=True, importance="HIGH", documentation="Where to.", width="NONE",
    display_name="topic", order=-1,
)  # fmt: skip
TASKS_KEY = pb.ConfigKeyInfo(
    name="tasks.max", type="INT", default_value="1", importance="HIGH", documentation="How many.",
    group="Common", width="SHORT", display_name="Tasks max", dependents=["topic"], order=3,
)  # fmt: skip


class UnassignedError(CopycatError):
    code = ErrorCode("instance.unassigned", grpc="NOT_FOUND", http=404)


class FakeExecutor(ExecutorServiceServicer):
    """Validates that `topic` is there; `fails` is raised by author code instead, `hangs` keeps it waiting."""

    def __init__(self) -> None:
        self.runs: set[tuple[str, int | None]] = set()
        self.restarted: list[tuple[str, int | None]] = []
        self.altered: list[pb.AlterOffsetsRequest] = []
        self.handles = False
        self.explains: list[pb.OffsetsEffect] | None = None
        self.cannot_explain: Exception | None = None
        self.finds: list[types_pb2.SourceOffset] | None = None
        self.asked_moves: list[pb.OffsetsMove] = []
        self.asked_times: list[int] = []
        self.fails: Exception | None = None
        self.cannot_validate: CopycatError | None = None
        self.hangs = False
        self.tells_no_plugins = False
        self.entered = asyncio.Event()

    async def ListPlugins(self, request: pb.ListPluginsRequest, context: Any) -> pb.ListPluginsResponse:
        if self.tells_no_plugins:
            self.entered.set()
            await asyncio.Event().wait()
        return pb.ListPluginsResponse(plugins=PLUGINS, unloadable=[BROKEN])

    async def GetPluginConfig(
        self, request: pb.GetPluginConfigRequest, context: Any
    ) -> pb.GetPluginConfigResponse:
        wanted = version_range(request.version) if request.HasField("version") else None
        if not self._kind(request.plugin):
            raise UnknownPluginError(request.plugin)
        if wanted is not None and not wanted.contains("1.0"):
            raise NoSuchVersionError(request.plugin, str(wanted), ("1.0",))
        return pb.GetPluginConfigResponse(keys=[TOPIC_KEY, TASKS_KEY])

    async def ValidateConnector(
        self, request: pb.ValidateConnectorRequest, context: Any
    ) -> pb.ValidateConnectorResponse:
        await self._author_code()
        if self.cannot_validate is not None:
            raise self.cannot_validate
        config = config_from_proto(request.config)
        name = config["connector.class"] or ""
        kind = self._kind(name)
        if not kind:
            raise UnknownConnectorClassError(name, ("a", "b"))
        topic = config.get("topic")
        errors = [] if topic else ['Missing required configuration "topic" which has no default value.']
        return pb.ValidateConnectorResponse(
            name=name,
            error_count=len(errors),
            groups=["Common"],
            configs=[
                pb.ConfigInfo(value=pb.ConfigValueInfo(name="stray", value="1", visible=True)),
                pb.ConfigInfo(
                    definition=TOPIC_KEY,
                    value=pb.ConfigValueInfo(name="topic", value=topic, errors=errors, visible=True),
                ),
            ],
            type=kind,
        )

    async def RestartConnector(
        self, request: pb.RestartConnectorRequest, context: Any
    ) -> pb.RestartConnectorResponse:
        await self._restart(request.connector, None)
        return pb.RestartConnectorResponse()

    async def RestartTask(self, request: pb.RestartTaskRequest, context: Any) -> pb.RestartTaskResponse:
        await self._restart(request.connector, request.task)
        return pb.RestartTaskResponse()

    async def AlterOffsets(self, request: pb.AlterOffsetsRequest, context: Any) -> pb.AlterOffsetsResponse:
        await self._author_code()
        self.altered.append(request)
        return pb.AlterOffsetsResponse(handled=self.handles)

    async def ExplainOffsets(
        self, request: pb.ExplainOffsetsRequest, context: Any
    ) -> pb.ExplainOffsetsResponse:
        if self.cannot_explain is not None:
            raise self.cannot_explain
        self.asked_moves = list(request.moves)
        return pb.ExplainOffsetsResponse(known=self.explains is not None, effects=self.explains)

    async def FindOffsets(self, request: pb.FindOffsetsRequest, context: Any) -> pb.FindOffsetsResponse:
        self.asked_times.append(request.time)
        return pb.FindOffsetsResponse(known=self.finds is not None, offsets=self.finds)

    async def _restart(self, connector: str, task: int | None) -> None:
        if (connector, task) not in self.runs:
            raise UnassignedError("another text")
        await self._author_code()
        self.restarted.append((connector, task))

    async def _author_code(self) -> None:
        self.entered.set()
        if self.fails is not None:
            raise self.fails
        if self.hangs:
            await asyncio.Event().wait()

    def _kind(self, name: str) -> str:
        for plugin in PLUGINS:
            if name in {plugin.class_name, *plugin.aliases}:
                return plugin.type
        return ""
