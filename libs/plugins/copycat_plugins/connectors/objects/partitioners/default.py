"""One folder for each partition of Kafka."""

from __future__ import annotations

from collections.abc import Sequence

from copycat_connect.data import TopicPartition

from copycat_plugins.connectors.objects.partitioners.partitioner import Report
from copycat_plugins.connectors.objects.records import Records


class DefaultPartitioner:
    """`partition=<number>`."""

    def folders(
        self, partition: TopicPartition, records: Records, times: Sequence[int] | None, report: Report
    ) -> str:
        """Return the folder; see the port."""
        del records, times, report
        return f"partition={partition.partition}"
