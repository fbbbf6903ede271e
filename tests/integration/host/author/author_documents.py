"""A sink whose writes may be repeated: each record is a document, named by where the record is in Kafka."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from copycat_connect.config import ConfigDef
from copycat_connect.data import SinkBatch
from copycat_connect.plugin import PluginKind, PluginSpec, SinkConnector, SinkTask


class DocumentsConnector(SinkConnector):
    """Gives every task the same configuration."""

    def start(self, config: Mapping[str, str]) -> None:
        """Keep it."""
        self._config = dict(config)

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """Return as many as there may be."""
        return [self._config] * max_tasks

    def stop(self) -> None:
        """Hold nothing."""


class DocumentsTask(SinkTask):
    """Writes documents, and counts in another file how often it wrote one."""

    def start(self, config: Mapping[str, str]) -> None:
        """Make the folder."""
        self._folder, self._writes = Path(config["folder"]), Path(config["writes"])
        self._folder.mkdir(exist_ok=True)

    def put(self, records: SinkBatch) -> None:
        """Write each record to the document that is its own."""
        for record in records:
            name = f"{record.original_topic}-{record.original_partition}-{record.original_offset}"
            (self._folder / name).write_text(str(record.value))
            with self._writes.open("a") as writes:
                writes.write("x")

    def stop(self) -> None:
        """Hold nothing."""


PLUGIN = PluginSpec(
    "author.Documents", PluginKind.SINK, "0.1", "Writes documents.", ConfigDef(), DocumentsConnector,
    "author.DocumentsTask", DocumentsTask,
)  # fmt: skip
