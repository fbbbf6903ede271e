"""A source and a sink that sign what they write with the start of the task that wrote it.

The order of the records in their topic, and of the lines in their file, then shows whether two starts of one
task ever wrote at the same time: one of them would be found again after the other.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping

from copycat_connect.config import HIGH, STRING, ConfigDef, ConfigKey
from copycat_connect.data import STRING_SCHEMA, SinkBatch, SourceRecord
from copycat_connect.plugin import (
    PluginKind,
    PluginSpec,
    SinkConnector,
    SinkTask,
    SourceConnector,
    SourceTask,
)

PAUSE_SECONDS = 0.01
RECORDS_AT_ONCE = 5


def signature() -> str:
    """Return what no other start of a task signs with."""
    return f"{os.getpid()}-{time.monotonic_ns()}"


class SigningSource(SourceConnector):
    """Has as many tasks as it may; each writes to the Kafka partition of its number."""

    def start(self, config: Mapping[str, str]) -> None:
        """Keep the topic."""
        self._topic = config["topic"]

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """Number the tasks."""
        return [{"topic": self._topic, "number": str(number)} for number in range(max_tasks)]

    def stop(self) -> None:
        """Hold nothing."""


class SigningSourceTask(SourceTask):
    """Signs without end."""

    def start(self, config: Mapping[str, str]) -> None:
        """Keep a signature."""
        self._topic, self._number, self._signature = config["topic"], int(config["number"]), signature()

    def poll(self) -> list[SourceRecord] | None:
        """Return the number and the signature, a few times."""
        if self.context.wait(PAUSE_SECONDS):
            return None
        value = f"{self._number} {self._signature}"
        partition, offset = {"number": self._number}, {"at": time.time_ns()}
        record = SourceRecord(
            partition, offset, self._topic, value, value_schema=STRING_SCHEMA, kafka_partition=self._number
        )
        return [record] * RECORDS_AT_ONCE

    def stop(self) -> None:
        """Hold nothing."""


class SigningSink(SinkConnector):
    """Has as many tasks as it may; all append to one file."""

    def start(self, config: Mapping[str, str]) -> None:
        """Keep the file."""
        self._file = config["file"]

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """Give all the same."""
        return [{"file": self._file}] * max_tasks

    def stop(self) -> None:
        """Hold nothing."""


class SigningSinkTask(SinkTask):
    """Appends the number of each record, and who wrote it there."""

    def start(self, config: Mapping[str, str]) -> None:
        """Open the file and take a signature."""
        self._file = os.open(config["file"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        self._signature = signature()

    def put(self, records: SinkBatch) -> None:
        """Append the lines at once: the file has them in the order of the calls."""
        numbers = [str(value).split()[0] for value in records.values]
        if numbers:
            os.write(self._file, "".join(f"{number} {self._signature}\n" for number in numbers).encode())

    def stop(self) -> None:
        """Close the file."""
        os.close(self._file)


PLUGINS = (
    PluginSpec(
        "signing.SigningSource",
        PluginKind.SOURCE,
        "0.1",
        "Signs records.",
        ConfigDef(ConfigKey("topic", STRING, HIGH, doc="Where to.")),
        SigningSource,
        "signing.SigningSourceTask",
        SigningSourceTask,
    ),
    PluginSpec(
        "signing.SigningSink",
        PluginKind.SINK,
        "0.1",
        "Signs lines.",
        ConfigDef(ConfigKey("file", STRING, HIGH, doc="Where to.")),
        SigningSink,
        "signing.SigningSinkTask",
        SigningSinkTask,
    ),
)
