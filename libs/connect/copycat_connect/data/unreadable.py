"""What a source found and could not make a record of."""

from __future__ import annotations

from collections.abc import Mapping

from copycat_connect.data.records import SourceRecord
from copycat_connect.data.schema import Schema
from copycat_connect.data.value import ConnectValue


class UnreadableRecord(SourceRecord):
    """Something a source task found and cannot make a record of: a line, a row, the rest of a file.

    It takes the place of the record among those that `poll` returns. When all before it were handed over, it
    is reported as any failed record is (`errors.tolerance`, counters, log), and never written to its topic.
    Tolerated, its source offset counts as that of a record: the task goes on behind it. Not tolerated, the
    task fails, and begins with it again when it is restarted.

    A dead letter holds what was found: bytes as they are, text in UTF-8, else JSON; its headers name source
    partition, source offset and the error.
    """

    __slots__ = ("error",)

    def __init__(  # as its parent
        self,
        source_partition: Mapping[str, ConnectValue] | None,
        source_offset: Mapping[str, ConnectValue] | None,
        topic: str,
        value: ConnectValue,
        error: Exception,
        *,
        value_schema: Schema | None = None,
    ) -> None:
        """Make one.

        Args:
            source_partition: As that of a record.
            source_offset: Where to continue behind it.
            topic: Where a record would have gone.
            value: What was found, best as bytes; None where it is too much to keep.
            error: Why it cannot be read, with the place: it is what a user sees.
            value_schema: The schema of a value that is neither bytes nor text.
        """
        super().__init__(source_partition, source_offset, topic, value, value_schema=value_schema)
        self.error = error
