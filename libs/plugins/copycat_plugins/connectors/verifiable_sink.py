"""VerifiableSink: prints each record when it comes and when it is flushed."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Mapping

from copycat_connect.config import ConfigDef
from copycat_connect.data import ConnectValue, SinkBatch, TopicPartition
from copycat_connect.kafka_version import KAFKA_VERSION
from copycat_connect.plugin import PluginKind, PluginSpec, SinkConnector, SinkTask

from copycat_plugins.connectors.system_tests import number_of, numbered, print_json

_CLASS_NAME = "org.apache.kafka.connect.tools.VerifiableSinkConnector"
_TASK_CLASS_NAME = "org.apache.kafka.connect.tools.VerifiableSinkTask"

_SUMMARY = "Prints a line of JSON for each record: once when it comes, and again when it is flushed."
_GUARANTEES = (
    "At least once, in order per Kafka partition. Made for system tests, to read what VerifiableSource "
    "wrote: a record's key is printed as its task, its value as its seqno, on the standard output of the "
    "task's process, the executor's log."
)
_EXAMPLES = {"What VerifiableSource wrote": {"tasks.max": "2", "topics": "verifiable"}}


class _VerifiableSinkConnector(SinkConnector):
    """Numbers its tasks."""

    def __init__(self) -> None:
        self._config: dict[str, str] = {}

    def start(self, config: Mapping[str, str]) -> None:
        """Keep the configuration."""
        self._config = dict(config)

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """Return as many configurations as are allowed."""
        return numbered(self._config, max_tasks)

    def stop(self) -> None:
        """Do nothing: the connector itself holds no resources."""


class VerifiableSinkTask(SinkTask):
    """Leaves offsets to the engine, so that the lines show how well it keeps them."""

    def __init__(self) -> None:
        self._unflushed: defaultdict[TopicPartition, list[dict[str, ConnectValue]]] = defaultdict(list)

    def start(self, config: Mapping[str, str]) -> None:
        """Start with the names that are printed."""
        self._name = config.get("name")
        self._number = number_of(config)

    def put(self, records: SinkBatch) -> None:
        """Print each record."""
        now = _now()
        lines = []
        for record in records:
            line = {
                "task": record.key,
                "seqno": record.value,
                "offset": record.offset,
                "time_ms": now,
                "name": self._name,
                "topic": record.topic,
                "sinkTask": self._number,
            }
            lines.append(line)
            self._unflushed[TopicPartition(record.original_topic, record.original_partition)].append(line)
        print_json(*lines)

    def flush(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Print each record of these partitions once more, as flushed."""
        now = _now()
        for partition in offsets:
            lines = self._unflushed.pop(partition, ())
            print_json(*({**line, "time_ms": now, "flushed": True} for line in lines))

    def stop(self) -> None:
        """Do nothing: there is nothing to let go of."""


def _now() -> int:
    return time.time_ns() // 1_000_000


PLUGIN = PluginSpec(
    class_name=_CLASS_NAME,
    kind=PluginKind.SINK,
    version=KAFKA_VERSION,
    summary=_SUMMARY,
    config=ConfigDef(),
    factory=_VerifiableSinkConnector,
    task_class_name=_TASK_CLASS_NAME,
    task_factory=VerifiableSinkTask,
    guarantees=_GUARANTEES,
    tested_with="nothing",
    examples=_EXAMPLES,
)
