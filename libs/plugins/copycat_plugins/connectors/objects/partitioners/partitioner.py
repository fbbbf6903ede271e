"""What a partitioner is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from copycat_connect.data import TopicPartition
from copycat_connect.errors import DataError

from copycat_plugins.connectors.objects.records import Records

Report = Callable[[Records, int, DataError], None]


class Partitioner(Protocol):
    """Says in which folder below that of its topic each record's file is."""

    def folders(
        self, partition: TopicPartition, records: Records, times: Sequence[int] | None, report: Report
    ) -> str | Sequence[str | None]:
        """Return the folder of all records, or one for each; None for one that was reported.

        Args:
            partition: Where they were read.
            records: The records.
            times: Their times in ms since 1970, as `timestamp.extractor` says.
            report: Takes records that have no folder.
        """
