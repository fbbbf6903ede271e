"""A sink that writes down what it is given."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from copycat_connect.data import SinkBatch, TopicPartition
from copycat_connect.errors import ConnectError
from copycat_connect.plugin import SinkConnector, SinkTask

from copycat_monitorable.connector import Monitored, takes_part
from copycat_monitorable.monitor import Monitor


class MonitorableSink(Monitored, SinkConnector):
    """Makes sinks that write down what they are given; their configuration never changes."""

    handed_on = ("monitor", "reports.errors")

    def alter_offsets(self, config: Mapping[str, str], offsets: Mapping[TopicPartition, int | None]) -> bool:
        """Answer what the configuration says."""
        del offsets
        return takes_part(config.get("alters.offsets"))


class MonitorableSinkTask(SinkTask):
    """Writes down every call and every record."""

    def start(self, config: Mapping[str, str]) -> None:
        """Begin."""
        self._monitor = Monitor(config["monitor"], f"task {config['index']}")
        self._monitor.happens("start")
        self._reports = config.get("reports.errors") == "true"

    def open(self, partitions: Collection[TopicPartition]) -> None:
        """Note the partitions."""
        self._monitor.note("open", partitions=sorted(map(list, map(_pair, partitions))))

    def put(self, records: SinkBatch) -> None:
        """Note every record; report them as errors if the configuration says so."""
        self._monitor.obey("put")
        for record in records:
            self._monitor.note(
                "put",
                topic=record.topic,
                partition=record.partition,
                offset=record.offset,
                value=record.value,
            )
            if self._reports and self.context.errant_record_reporter is not None:
                self.context.errant_record_reporter.report(record, ConnectError("this sink wants none"))

    def flush(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Note the commit."""
        self._monitor.obey("flush")
        self._monitor.note("flush", offsets=[[*_pair(each), offset] for each, offset in offsets.items()])

    def close(self, partitions: Collection[TopicPartition]) -> None:
        """Note the partitions."""
        self._monitor.note("close", partitions=sorted(map(list, map(_pair, partitions))))

    def stop(self) -> None:
        """End."""
        self._monitor.happens("stop")


def _pair(partition: TopicPartition) -> tuple[str, int]:
    return partition.topic, partition.partition
