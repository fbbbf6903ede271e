"""Connectors that do what their configuration says: raise, hang, exit, ask for reconfiguration."""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from copycat_connect.config import LOW, PASSWORD, STRING, ConfigDef, ConfigKey
from copycat_connect.data import TopicPartition
from copycat_connect.errors import ConnectError, OffsetsUnmodifiableError
from copycat_connect.plugin import ConnectorContext, PluginKind, PluginSpec, SinkConnector, SourceConnector


def behave(what: str | None) -> None:
    """Do what a test wants author code to do."""
    match what:
        case "raise":
            raise ConnectError("the author says no")
        case "unmodifiable":
            raise OffsetsUnmodifiableError("they are in another system")
        case "hang":
            threading.Event().wait()
        case "exit":
            os._exit(7)
        case "exit once":
            marker = Path(os.environ["COPYCAT_PROBE_MARKER"])
            if not marker.exists():
                marker.touch()
                os._exit(7)
        case "hold the interpreter":
            ctypes.PyDLL(None).sleep(600)  # a C call that never lets go of it
        case _:
            pass


WRONG_TASK_CONFIGS: Mapping[str, list[Any]] = {
    "number": [{"index": 1}],
    "no map": [{"index": "0"}, "index=1"],
    "number as key": [{5: "five"}],
}


class Probe:
    """What both kinds share."""

    config: Mapping[str, str]
    context: ConnectorContext

    def start(self, config: Mapping[str, str]) -> None:
        print("authors print")
        self.config = config
        behave(config.get("on.start"))
        if config.get("on.start") == "raise an error for a message":
            raise ConnectError(OSError("bytes \udcff in a name"))  # type: ignore[arg-type]  # as authors do
        if config.get("fail.later"):
            threading.Timer(0.1, self.context.raise_error, [ConnectError("found out later")]).start()
        if config.get("reconfigure.later"):
            threading.Timer(0.1, self._reconfigure).start()
        self.tasks = int(config.get("tasks", "1"))

    def _reconfigure(self) -> None:
        self.tasks += 1
        self.context.request_task_reconfiguration()

    def task_configs(self, max_tasks: int) -> list[Any]:
        behave(self.config.get("on.task.configs"))
        if wrong := WRONG_TASK_CONFIGS.get(self.config.get("on.task.configs", "")):
            return wrong
        return [{"index": str(i), "secret": self.config.get("secret", "")} for i in range(self.tasks)]

    def stop(self) -> None:
        behave(self.config.get("on.stop"))

    def validate(self, config: Mapping[str, str | None]) -> Any:
        behave(config.get("on.validate"))
        return None


class ProbeSource(Probe, SourceConnector):
    def alter_offsets(self, config: Mapping[str, str], offsets: Any) -> bool:
        behave(config.get("on.alter"))
        return list(offsets) == [({"p": 1}, {"o": 2}), ({"p": 2}, None)]


class ProbeSink(Probe, SinkConnector):
    def alter_offsets(self, config: Mapping[str, str], offsets: Any) -> bool:
        behave(config.get("on.alter"))
        return dict(offsets) == {TopicPartition("in", 0): 5, TopicPartition("in", 1): None}


KEYS = ConfigDef(
    ConfigKey("tasks", STRING, LOW, default="1", doc="How many tasks to make."),
    ConfigKey("secret", PASSWORD, LOW, default=None, doc="A secret."),
)
PLUGINS = (
    PluginSpec(
        "probe.ProbeSourceConnector", PluginKind.SOURCE, "1.2", "Probes.", KEYS, ProbeSource, "probe.Task"
    ),
    PluginSpec(
        "probe.ProbeSinkConnector", PluginKind.SINK, "undefined", "Probes.", KEYS, ProbeSink, "probe.Task"
    ),
)
