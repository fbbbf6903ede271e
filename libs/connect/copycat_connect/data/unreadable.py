"""What a source found and could not make a record of."""

from __future__ import annotations

from collections.abc import Mapping

from copycat_connect.data.records import SourceRecord
from copycat_connect.data.schema import Schema
from copycat_connect.data.value import ConnectValue


class UnreadableRecord(SourceRecord):
    """Something a source task found and cannot make a record of, e.g. a line of another form.

    It takes the place of the record among those that `poll` returns. It is reported as any failed record is
    (`errors.tolerance`, the log, the dead letter queue) when all before it were handed over, and never
    written to its topic; tolerated, its source offset counts as that of a record.
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
        """Make one; `value` is what was found, `error` why it cannot be read."""
        super().__init__(source_partition, source_offset, topic, value, value_schema=value_schema)
        self.error = error
