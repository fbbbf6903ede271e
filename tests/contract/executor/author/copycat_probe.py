"""Connectors that do what their configuration says: raise, hang, exit, ask for reconfiguration."""

from __future__ import annotations

import asyncio
import ctypes
import os
import re
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from copycat_connect.config import LOW, PASSWORD, STRING, ConfigDef, ConfigKey
from copycat_connect.data import TopicPartition
from copycat_connect.errors import ConnectError, OffsetsUnmodifiableError, RetriableError
from copycat_connect.plugin import (
    ConnectorContext,
    OffsetEffect,
    PluginKind,
    PluginSpec,
    SinkConnector,
    SourceConnector,
)


def refuse() -> None:
    raise ConnectError("the author says no")


def refuse_offsets() -> None:
    raise OffsetsUnmodifiableError("they are in another system")


def exit_once() -> None:
    marker = Path(os.environ["COPYCAT_PROBE_MARKER"])
    if not marker.exists():
        marker.touch()
        os._exit(7)


def spin() -> None:
    while True:
        pass


def spin_for_ever() -> None:
    while True:
        with suppress(BaseException):  # as some authors do
            spin()


def leak() -> None:
    taken = []
    while True:
        taken.append(b"\1" * 1_000_000)
        time.sleep(0.001)


def backtrack() -> None:
    re.match("(a+)+b", "a" * 60)  # it takes longer than there is time, and holds the interpreter


def backtrack_later() -> None:
    threading.Timer(0.1, backtrack).start()


class PanicException(BaseException):
    """What compiled code raises when it panics."""


class Unreadable(Exception):
    """Its text cannot be read."""

    def __str__(self) -> str:
        raise SystemExit(4)


def throw(error: BaseException) -> None:
    raise error


BEHAVIOUR: Mapping[str, Callable[[], object]] = {
    "sys.exit": lambda: throw(SystemExit(3)),
    "cancel": lambda: throw(asyncio.CancelledError()),
    "panic": lambda: throw(PanicException("index out of bounds \udc80")),
    "unreadable": lambda: throw(Unreadable()),
    "raise 100 MB": lambda: throw(ValueError("x" * 100_000_000)),
    "raise": refuse,
    "unmodifiable": refuse_offsets,
    "hang": lambda: threading.Event().wait(),
    "exit": lambda: os._exit(7),
    "exit once": exit_once,
    "hold the interpreter": lambda: ctypes.PyDLL(None).sleep(600),  # a C call that never lets go of it
    "backtrack": backtrack,
    "backtrack later": backtrack_later,
    "spin": spin,
    "spin whatever is raised": spin_for_ever,
    "leak": leak,
}


def behave(what: str | None) -> None:
    """Do what a test wants author code to do."""
    if what is not None and what in BEHAVIOUR:
        BEHAVIOUR[what]()


WRONG_TASK_CONFIGS: Mapping[str, list[Any]] = {
    "number": [{"index": 1}],
    "no map": [{"index": "0"}, "index=1"],
    "number as key": [{5: "five"}],
    "half a pair": [{"file": os.fsdecode(b"na\xff")}],
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
        count = config.get("tasks", "1")
        self.tasks = 0 if count == "all" else int(count)

    def _reconfigure(self) -> None:
        self.tasks += 1
        self.context.request_task_reconfiguration()

    def task_configs(self, max_tasks: int) -> list[Any]:
        behave(self.config.get("on.task.configs"))
        self._wait_for_source()
        if wrong := WRONG_TASK_CONFIGS.get(self.config.get("on.task.configs", "")):
            return wrong
        return [
            {"index": str(i), "secret": self.config.get("secret", "")} for i in range(self._count(max_tasks))
        ]

    def _wait_for_source(self) -> None:
        """Raise, or only say so, while a file is missing; a thread looks for it where it is to."""
        source = Path(self.config.get("source", "/"))
        if self.config.get("source.says"):
            self.context.waiting(None if source.exists() else self.config["source.says"])
        elif not source.exists():
            if self.config.get("source.watched"):
                threading.Thread(target=self._watch, args=(source,), daemon=True).start()
            raise (ConnectError if self.config.get("source.lost") else RetriableError)(
                f"{source} is not there"
            )

    def _watch(self, source: Path) -> None:
        while not source.exists():
            time.sleep(0.01)
        self.context.request_task_reconfiguration()

    def _count(self, max_tasks: int) -> int:
        return max_tasks if self.config.get("tasks") == "all" else self.tasks

    def stop(self) -> None:
        behave(self.config.get("on.stop"))
        if self.config.get("on.stop") == "reconfigure":
            self._reconfigure()

    def validate(self, config: Mapping[str, str | None]) -> Any:
        behave(config.get("on.validate"))
        return None


class ProbeSource(Probe, SourceConnector):
    def alter_offsets(self, config: Mapping[str, str], offsets: Any) -> bool:
        behave(config.get("on.alter"))
        return list(offsets) == [({"p": 1}, {"o": 2}), ({"p": 2}, None)]

    def explain_offsets(self, config: Mapping[str, str], moves: Any) -> Any:
        behave(config.get("on.explain"))
        if config.get("on.explain") == "nothing":
            return None
        effects = [
            None if move.before is None else OffsetEffect(move.before["o"], None, "crates") for move in moves
        ]
        return effects[1:] if config.get("on.explain") == "one short" else effects

    def find_offsets(self, config: Mapping[str, str], offsets: Any, time: datetime) -> Any:
        behave(config.get("on.find"))
        if config.get("on.find") == "nothing":
            return None
        return [({"new": 1}, {"at": time.isoformat()}), *((partition, None) for partition, _ in offsets)]


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
        "copycat_probe.ProbeSparkSourceConnector",
        PluginKind.SOURCE,
        "1.2",
        "Probes.",
        KEYS,
        ProbeSource,
        "probe.Task",
        on_spark=True,
    ),
    PluginSpec(
        "probe.ProbeSourceConnector", PluginKind.SOURCE, "1.2", "Probes.", KEYS, ProbeSource, "probe.Task"
    ),
    PluginSpec(
        "probe.ProbeSinkConnector", PluginKind.SINK, "undefined", "Probes.", KEYS, ProbeSink, "probe.Task"
    ),
)
