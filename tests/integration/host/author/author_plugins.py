"""Plugins of an author outside this repository, found by their entry point."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from pathlib import Path

from copycat_connect.config import ConfigDef
from copycat_connect.data import ConnectRecord, SinkBatch, SourceRecord, TopicPartition
from copycat_connect.errors import DataError
from copycat_connect.plugin import (
    PluginKind,
    PluginSpec,
    SinkConnector,
    SinkTask,
    SourceConnector,
    SourceTask,
    Transformation,
)


class Numbers(Transformation):
    """Lets numbers pass and refuses all else."""

    def apply(self, record: ConnectRecord) -> ConnectRecord:  # type: ignore[override]
        if not str(record.value).isdigit():
            message = f"{record.value} is no number"
            raise DataError(message)
        return record


class HangingConnector(SourceConnector):
    """Has one task."""

    def start(self, config: Mapping[str, str]) -> None:
        """Keep nothing."""

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """Return one."""
        return [{}]

    def stop(self) -> None:
        """Hold nothing."""


class HangingTask(SourceTask):
    """Never comes back from its second poll."""

    def start(self, config: Mapping[str, str]) -> None:
        """Begin."""
        self.polls = 0

    def poll(self) -> list[SourceRecord] | None:
        """Hang."""
        self.polls += 1
        while self.polls > 1:
            time.sleep(1)
        return None

    def stop(self) -> None:
        """Never reached."""


class RewindingConnector(SinkConnector):
    """Has one task."""

    def start(self, config: Mapping[str, str]) -> None:
        """Keep nothing."""

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """Return one."""
        return [{}]

    def stop(self) -> None:
        """Hold nothing."""


class RewindingTask(SinkTask):
    """Keeps its progress itself: skips the first record of every partition."""

    def start(self, config: Mapping[str, str]) -> None:
        """Open the file."""
        self.path = Path(config["file"])

    def open(self, partitions: Collection[TopicPartition]) -> None:
        """Continue behind the first record."""
        self.context.offset(dict.fromkeys(partitions, 1))

    def put(self, records: SinkBatch) -> None:
        """Append the values."""
        with self.path.open("a") as out:
            out.writelines(f"{value}\n" for value in records.values)

    def stop(self) -> None:
        """Hold nothing."""


PLUGINS = (
    PluginSpec("author.Numbers", PluginKind.TRANSFORMATION, "0.1", "Numbers only.", ConfigDef(), Numbers),
    PluginSpec(
        "author.Hanging", PluginKind.SOURCE, "0.1", "Hangs.", ConfigDef(), HangingConnector,
        "author.HangingTask", HangingTask,
    ),
    PluginSpec(
        "author.Rewinding", PluginKind.SINK, "0.1", "Skips one.", ConfigDef(), RewindingConnector,
        "author.RewindingTask", RewindingTask,
    ),
)  # fmt: skip
