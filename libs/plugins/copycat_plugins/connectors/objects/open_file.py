"""A file of records that is being written."""

from __future__ import annotations

from collections.abc import Callable

from copycat_connect.data import ConnectValue, Schema
from copycat_connect.errors import DataError

from copycat_plugins.connectors.objects.formats.format import Format
from copycat_plugins.connectors.objects.records import Records
from copycat_plugins.connectors.objects.staging import StagedFile

Project = Callable[[Records], list[ConnectValue]]
Report = Callable[[Records, int, DataError], None]


class OpenFile:
    """Values of one schema, of one topic-partition, in one folder."""

    def __init__(self, staged: StagedFile, format: Format, schema: Schema | None, first: int) -> None:
        """Begin it.

        Args:
            staged: Takes the bytes.
            format: How they are made.
            schema: Schema of all values.
            first: Offset of the first record.

        Raises:
            DataError: The format has nothing for the schema.
        """
        self._staged = staged
        self._writer = format.writer(staged, schema)
        self.first = first
        self.last = first
        self.count = 0

    @property
    def size(self) -> int:
        """About how many bytes it has."""
        return self._staged.size + self._writer.waiting

    def write(self, records: Records, project: Project, report: Report) -> None:
        """Append records; those that cannot be written are reported."""
        try:
            self._writer.write(project(records))
        except DataError as error:
            if len(records) == 1:
                report(records, 0, error)
                return
            half = len(records) // 2
            self.write(records.at(slice(half)), project, report)
            self.write(records.at(slice(half, None)), project, report)
            return
        self.count += len(records)
        self.last = records.offsets[-1]

    def seal(self) -> str:
        """Make it complete and durable, still out of sight; returns what publishes it."""
        self._writer.finish()
        return self._staged.seal()

    def abort(self) -> None:
        """Drop it."""
        self._staged.abort()
