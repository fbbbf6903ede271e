"""A source that counts: each of its source partitions is the numbers from 1, without end, at a steady rate.

A number goes into the Kafka partition of the same index, so that a topic shows by itself what is missing.
For sinks, which keep neither, a value can also say its partition and when it was made.
"""

from __future__ import annotations

import time
from collections.abc import Mapping

from copycat_connect.config import BOOLEAN, HIGH, INT, LOW, STRING, ConfigDef, ConfigKey
from copycat_connect.data import STRING_SCHEMA, SourceRecord
from copycat_connect.plugin import ExactlyOnceSupport, PluginKind, PluginSpec, SourceConnector, SourceTask

PAUSE_SECONDS = 0.02
CONFIG = ConfigDef(
    ConfigKey("topic", STRING, HIGH, doc="Topic of the numbers."),
    ConfigKey("partitions", INT, LOW, default=4, doc="How many source partitions there are."),
    ConfigKey("at.once", INT, LOW, default=20, doc="How many numbers of a partition a poll returns."),
    ConfigKey("placed", BOOLEAN, LOW, default=False, doc="Partition and milliseconds follow the number."),
)


class CountingSource(SourceConnector):
    """Divides the partitions among the tasks."""

    def start(self, config: Mapping[str, str]) -> None:
        """Keep the configuration."""
        self._config = dict(config)

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """Give task i of n the partitions i, i + n, i + 2n and so on."""
        partitions = range(int(self._config.get("partitions", "4")))
        shares = [partitions[task::max_tasks] for task in range(max_tasks)]
        return [{**self._config, "share": ",".join(map(str, share))} for share in shares if share]

    def stop(self) -> None:
        """Do nothing: there is nothing to let go of."""

    def exactly_once_support(self, config: Mapping[str, str]) -> ExactlyOnceSupport:
        """Whoever can count can count again from any number."""
        del config
        return ExactlyOnceSupport.SUPPORTED


class CountingTask(SourceTask):
    """Counts on from the committed numbers."""

    def start(self, config: Mapping[str, str]) -> None:
        """Read where to go on."""
        self._topic = config["topic"]
        self._at_once = int(config.get("at.once", "20"))
        self._placed = config.get("placed") == "true"
        partitions = [int(each) for each in config["share"].split(",")]
        found = self.context.offsets([{"partition": each} for each in partitions])
        self._last = {
            each: int(offset["number"]) if offset else 0
            for each, offset in zip(partitions, found, strict=True)
        }

    def poll(self) -> list[SourceRecord] | None:
        """Return the next numbers of every partition."""
        if self.context.wait(PAUSE_SECONDS):
            return None
        records = []
        for partition, last in self._last.items():
            numbers = range(last + 1, last + 1 + self._at_once)
            records += [self._record(partition, number) for number in numbers]
            self._last[partition] = numbers[-1]
        return records

    def stop(self) -> None:
        """Do nothing: there is nothing to let go of."""

    def _record(self, partition: int, number: int) -> SourceRecord:
        place = f" {partition} {time.time_ns() // 1_000_000}" if self._placed else ""
        return SourceRecord(
            {"partition": partition},
            {"number": number},
            self._topic,
            f"{number}{place}",
            value_schema=STRING_SCHEMA,
            kafka_partition=partition,
        )


PLUGINS = (
    PluginSpec(
        "counting.CountingSourceConnector",
        PluginKind.SOURCE,
        "1.0",
        "Counts.",
        CONFIG,
        CountingSource,
        "counting.CountingSourceTask",
        CountingTask,
    ),
)
