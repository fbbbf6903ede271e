"""VerifiableSink's task: prints what it is given, and again when it is flushed."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Mapping

from copycat_connect.data import ConnectValue, SinkBatch, TopicPartition
from copycat_connect.plugin import SinkTask

from copycat_plugins.connectors.numbered import number_of
from copycat_plugins.connectors.printed import print_json
from copycat_plugins.connectors.verifiable_sink.spec import NAME


class VerifiableSinkTask(SinkTask):
    """Leaves offsets to the engine, so that the lines show how well it keeps them."""

    def __init__(self) -> None:
        self._unflushed: defaultdict[TopicPartition, list[dict[str, ConnectValue]]] = defaultdict(list)

    def start(self, config: Mapping[str, str]) -> None:
        """Take the names that are printed."""
        self._name = config.get(NAME)
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
