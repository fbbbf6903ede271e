"""Connectors that harm the process they run in: each call does what the configuration says of it."""

from __future__ import annotations

import os
import re
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from copycat_connect.config import LOW, STRING, ConfigDef, ConfigKey
from copycat_connect.data import STRING_SCHEMA, SinkRecord, SourceRecord
from copycat_connect.plugin import (
    PluginKind,
    PluginSpec,
    SinkConnector,
    SinkTask,
    SourceConnector,
    SourceTask,
)

MEGABYTE = 1 << 20
#: Keeps what "leak" takes.
LEAKED: list[bytes] = []


def hang() -> None:
    """Wait for what never comes."""
    threading.Event().wait()


def end_the_process() -> None:
    """End without a word."""
    os._exit(7)


def spin() -> None:
    """Use all of a processor."""
    while True:
        pass


def leak() -> None:
    """Allocate memory for ever, a gigabyte in some seconds."""
    while True:
        LEAKED.append(b"\1" * MEGABYTE)
        time.sleep(0.002)


def print_for_ever() -> None:
    """Print gigabytes."""
    while True:
        print("x" * 10_000)
        sys.stderr.write("y" * 10_000 + "\n")


def backtrack() -> None:
    """Hold the interpreter, as a regular expression does that finds nothing in many ways."""
    re.match("(a+)+b", "a" * 60)


HARMS: Mapping[str, Callable[[], None]] = {
    "hangs": hang,
    "exits": end_the_process,
    "spins": spin,
    "backtracks": backtrack,
    "leaks": leak,
    "prints": print_for_ever,
}


def harm(config: Mapping[str, str], call: str) -> None:
    """Do what the configuration says of a call: the key `harm` holds `<call> <harm>`."""
    where, _, what = config.get("harm", "").partition(" ")
    if where != call:
        return
    if what == "forks":
        _note(config, call)
        if os.fork() == 0:
            _note(config, call)
            hang()
        return
    _note(config, call)
    HARMS[what]()


def _note(config: Mapping[str, str], call: str) -> None:
    with Path(config["journal"]).open("a") as journal:
        journal.write(f"{call} {os.getpid()}\n")


class Connector:
    """What both kinds share."""

    def start(self, config: Mapping[str, str]) -> None:
        """Keep the configuration."""
        self._config = config
        harm(config, "connector.start")

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """Make as many tasks as are asked for."""
        harm(self._config, "connector.task_configs")
        return [{**self._config, "index": str(index)} for index in range(max_tasks)]

    def stop(self) -> None:
        """Hold nothing."""
        harm(self._config, "connector.stop")


class HarmfulSource(Connector, SourceConnector):
    """Makes numbers, ten times a second, or harm."""


class HarmfulSink(Connector, SinkConnector):
    """Drops records, or does harm."""


class HarmfulSourceTask(SourceTask):
    """Numbers records, where it has a topic for them."""

    def start(self, config: Mapping[str, str]) -> None:
        """Begin at 0."""
        self._config, self._number = config, 0
        harm(config, "start")

    def poll(self) -> Sequence[SourceRecord] | None:
        """Make one record."""
        harm(self._config, "poll")
        self.context.wait(0.05 if "topic" in self._config else 1.0)
        if "topic" not in self._config:
            return None
        self._number += 1
        where: dict[str, Any] = {"task": self._config["index"]}
        offset = {"number": self._number}
        value = str(self._number)
        return [SourceRecord(where, offset, self._config["topic"], value, value_schema=STRING_SCHEMA)]

    def stop(self) -> None:
        """Hold nothing."""
        harm(self._config, "stop")


class HarmfulSinkTask(SinkTask):
    """Drops records."""

    def start(self, config: Mapping[str, str]) -> None:
        """Keep the configuration."""
        self._config = config

    def put(self, records: Sequence[SinkRecord]) -> None:
        """Drop them."""
        if records:
            harm(self._config, "put")

    def close(self, partitions: Any) -> None:
        """Hold nothing."""
        del partitions
        harm(self._config, "close")

    def stop(self) -> None:
        """Hold nothing."""


DEFINITION = ConfigDef(
    ConfigKey("harm", STRING, LOW, default="", doc="`<call> <harm>`, for example `poll spins`."),
    ConfigKey(
        "journal", STRING, LOW, default="", doc="File that says which calls did harm, in which process."
    ),
)
PLUGINS = (
    PluginSpec(
        "harmful.HarmfulSource",
        PluginKind.SOURCE,
        "1.0",
        "Makes numbers or harm.",
        DEFINITION,
        HarmfulSource,
        "harmful.HarmfulSourceTask",
        HarmfulSourceTask,
    ),
    PluginSpec(
        "harmful.HarmfulSink",
        PluginKind.SINK,
        "1.0",
        "Drops records or does harm.",
        DEFINITION,
        HarmfulSink,
        "harmful.HarmfulSinkTask",
        HarmfulSinkTask,
    ),
)
