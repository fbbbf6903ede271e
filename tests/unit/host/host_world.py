"""A host without Kafka, and what it said."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from typing import ClassVar

from copycat.host.v1 import host_service_pb2 as pb
from copycat.types.v1 import types_pb2
from copycat_connect.config import ConfigDef
from copycat_connect.data import SourceRecord
from copycat_connect.plugin import (
    PluginKind,
    Plugins,
    PluginSpec,
    SourceConnector,
    SourceTask,
)
from copycat_executor.taskhost.host_questions import HostQueries
from copycat_executor.taskhost.host_surroundings import Garbage, HostSurroundings
from copycat_executor.taskhost.task_host import TaskHost
from copycat_rpc.messages import config_to_proto
from copycat_testkit.kafka import wait_until

from tests.unit.pipeline.fakes import TextConverter, TextHeaders

RUNNING, PAUSED = types_pb2.STATE_RUNNING, types_pb2.STATE_PAUSED
FAILED, UNASSIGNED = types_pb2.STATE_FAILED, types_pb2.STATE_UNASSIGNED
WORKER = {
    "bootstrap.servers": "127.0.0.1:1",
    "key.converter": "a.TextConverter",
    "value.converter": "a.TextConverter",
    "header.converter": "a.TextHeaderConverter",
}


class QuietTask(SourceTask):
    """Has no records; hangs in `poll` while `gate` is closed."""

    gate = threading.Event()
    hanging = threading.Event()

    def start(self, config: Mapping[str, str]) -> None:
        if "broken" in config:
            raise ValueError("cannot start")

    def poll(self) -> list[SourceRecord] | None:
        if not self.gate.is_set():
            self.hanging.set()
            self.gate.wait()
        self.context.wait(0.05)
        return None

    def stop(self) -> None:
        pass


def spec(name: str, kind: PluginKind, factory: type, task: type | None = None) -> PluginSpec:
    return PluginSpec(f"a.{name}", kind, "7", "", ConfigDef(), factory, "a.Task" if task else "", task)


PLUGINS = (
    spec("TextConverter", PluginKind.CONVERTER, TextConverter),
    spec("TextHeaderConverter", PluginKind.HEADER_CONVERTER, TextHeaders),
    spec("Quiet", PluginKind.SOURCE, SourceConnector, QuietTask),
)


class World:
    """A host and what it said."""

    made: ClassVar[list[World]] = []

    def __init__(self, *plugins: PluginSpec) -> None:
        """Keep further plugins."""
        World.made.append(self)
        QuietTask.gate.set()
        QuietTask.hanging.clear()
        self.said: list[pb.AttachRequest] = []
        self.finished = threading.Event()
        surroundings = HostSurroundings(
            Plugins([*PLUGINS, *plugins]),
            {},
            time.monotonic,
            lambda: 0.5,
            HostQueries(self.said.append),
            Garbage(time.monotonic),
        )
        self.host = TaskHost(surroundings, self.said.append, self.finished.set)

    def start(self, name: str = "c", **config: str) -> pb.TaskRef:
        ref = pb.TaskRef(connector=name, task=0, generation=3, start=1)
        both = config_to_proto({"name": name, "connector.class": "a.Quiet", **config})
        command = pb.StartTask(
            task=ref, worker_config=config_to_proto(WORKER), connector_config=both, task_config=both
        )
        self.host.obey(pb.AttachResponse(start_task=command))
        return ref

    def end(self) -> None:
        """End all tasks and wait for their threads."""
        QuietTask.gate.set()
        self.host.lose_executor()

    def stop(self, ref: pb.TaskRef, timeout_ms: int = 60_000) -> None:
        self.host.obey(pb.AttachResponse(stop_task=pb.StopTask(task=ref, timeout_ms=timeout_ms)))

    def set_state(self, ref: pb.TaskRef, state: types_pb2.TargetState.ValueType) -> None:
        self.host.obey(pb.AttachResponse(set_task_state=pb.SetTaskState(task=ref, target_state=state)))

    def states(self) -> list[types_pb2.State.ValueType]:
        return [each.state_changed.state for each in self.said if each.HasField("state_changed")]

    def wait_for(self, *states: types_pb2.State.ValueType) -> None:
        wait_until(lambda: self.states() == list(states), 60, lambda: f"{states}, got {self.said}")

    def last(self) -> pb.TaskStateChanged:
        return [each.state_changed for each in self.said if each.HasField("state_changed")][-1]
