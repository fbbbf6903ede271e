"""A sink of an author outside this repository that keeps its offsets with its data, and none in Kafka."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from copycat_connect.config import HIGH, STRING, ConfigDef, ConfigKey
from copycat_connect.data import SinkBatch, TopicPartition
from copycat_connect.plugin import PluginKind, PluginSpec, SinkConnector, SinkTask


class OwnOffsetsConnector(SinkConnector):
    """Has one task."""

    def start(self, config: Mapping[str, str]) -> None:
        """Keep the configuration."""
        self._config = dict(config)

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """Return one."""
        return [self._config]

    def stop(self) -> None:
        """Hold nothing."""


class OwnOffsetsTask(SinkTask):
    """Writes lines of topic, partition, offset and value; goes on behind the last line of a partition."""

    def start(self, config: Mapping[str, str]) -> None:
        """Find the file."""
        self._file = Path(config["file"])
        self._file.touch()

    def open(self, partitions: Collection[TopicPartition]) -> None:
        """Go on behind what the file holds, wherever the consumer group is."""
        next_offsets = dict.fromkeys(partitions, 0)
        for line in self._file.read_text().splitlines():
            topic, partition, offset, _ = line.split(" ", 3)
            next_offsets[TopicPartition(topic, int(partition))] = int(offset) + 1
        self.context.offset({each: next_offsets[each] for each in partitions})

    def put(self, records: SinkBatch) -> None:
        """Append the records, each with its offset."""
        with self._file.open("a") as out:
            out.writelines(
                f"{record.topic} {record.partition} {record.offset} {record.value}\n" for record in records
            )

    def pre_commit(self, offsets: Mapping[TopicPartition, int]) -> Mapping[TopicPartition, int]:
        """Leave nothing to Kafka."""
        return {}

    def stop(self) -> None:
        """Hold nothing."""


PLUGINS = (
    PluginSpec(
        "author.OwnOffsetsSinkConnector", PluginKind.SINK, "0.1", "Keeps its offsets with its data.",
        ConfigDef(ConfigKey("file", STRING, HIGH, doc="Where data and offsets are.")),
        OwnOffsetsConnector, "author.OwnOffsetsSinkTask", OwnOffsetsTask,
    ),
)  # fmt: skip
