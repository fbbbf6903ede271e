"""A source of very many partitions, one for each metric of each host, whose offset is a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice

from copycat_connect.config import HIGH, INT, STRING, ConfigDef, ConfigKey
from copycat_connect.data import SourceRecord
from copycat_connect.plugin import PluginKind, PluginSpec, SourceConnector, SourceTask
from copycat_connect.plugin.contexts import SourcePartition

METRICS = 100
"""Metrics of a host."""
AT_ONCE = 5000
"""Partitions whose offsets are asked for together, and records of a batch."""


class MetricsConnector(SourceConnector):
    """Gives all hosts to one task; nobody learns of the partitions."""

    def start(self, config: Mapping[str, str]) -> None:
        """Keep the configuration."""
        self._config = {key: config[key] for key in ("topic", "hosts")}

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """Return one task."""
        return [self._config]

    def stop(self) -> None:
        """Hold nothing."""


class MetricsTask(SourceTask):
    """Each start brings the next time of every metric once."""

    def start(self, config: Mapping[str, str]) -> None:
        """Begin with the first host."""
        self._topic = config["topic"]
        self._partitions: Iterator[SourcePartition] = (
            {"host": f"host-{host}", "metric": f"metric-{metric}"}
            for host in range(int(config["hosts"]))
            for metric in range(METRICS)
        )

    def poll(self) -> list[SourceRecord] | None:
        """Return the next times of some metrics, each behind its own offset."""
        partitions = list(islice(self._partitions, AT_ONCE))
        if not partitions:
            self.context.wait(1)
            return None
        offsets = self.context.offsets(partitions)
        return [
            self._record(partition, 0 if offset is None else int(offset["time"]) + 1)
            for partition, offset in zip(partitions, offsets, strict=True)
        ]

    def stop(self) -> None:
        """Hold nothing."""

    def _record(self, partition: SourcePartition, time: int) -> SourceRecord:
        value = f"{partition['host']} {partition['metric']} {time}"
        return SourceRecord(partition, {"time": time}, self._topic, value)


PLUGINS = (
    PluginSpec(
        "author.MetricsSourceConnector", PluginKind.SOURCE, "0.1", "Makes metrics of hosts up.",
        ConfigDef(
            ConfigKey("topic", STRING, HIGH, doc="The topic."),
            ConfigKey("hosts", INT, HIGH, doc="How many hosts there are."),
        ),
        MetricsConnector, "author.MetricsSourceTask", MetricsTask,
    ),
)  # fmt: skip
