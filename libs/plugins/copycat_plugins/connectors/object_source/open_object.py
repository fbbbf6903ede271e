"""A file that is being read, as batches."""

from __future__ import annotations

from copycat_connect.data import SourceBatch
from copycat_connect.errors import ConnectError, DataError

from copycat_plugins.connectors.object_source import spec
from copycat_plugins.connectors.object_source.listing import Found
from copycat_plugins.connectors.object_source.positions import offset_at, partition_of
from copycat_plugins.connectors.objects.formats.csv_reader import CsvOptions
from copycat_plugins.connectors.objects.formats.opening import open_reader
from copycat_plugins.connectors.objects.formats.reader import Chunk, Place
from copycat_plugins.connectors.stores.store import Store


class OpenObject:
    """Reads from a place on; remembers where it is, so that another can go on there."""

    def __init__(self, store: Store, found: Found, place: Place, csv: CsvOptions) -> None:
        """Open a file.

        Raises:
            FileMissingError: It is gone.
            ConnectError: It is not of its format, or the store's other errors.
        """
        self.found = found
        self.place = place
        """Where the next batch begins."""
        self._store = store
        self._partition = partition_of(store.name, found.file.path)
        self.is_read = False
        """True after the last record."""
        try:
            self._reader = open_reader(store, found.file, found.picked.format, place, csv)
        except DataError as error:
            raise self._unreadable(error) from error

    def read(self, limit: int) -> SourceBatch | None:
        """Return the next records; None where there are none just now, or at the end.

        Raises:
            ConnectError: The file is not of its format, or the store's errors.
        """
        try:
            chunk = self._reader.read(limit)
        except DataError as error:
            raise self._unreadable(error) from error
        self.place, self.is_read = chunk.after, chunk.is_last
        if not chunk.values:
            return None
        return SourceBatch(
            self.found.picked.topic,
            chunk.values,
            value_schema=chunk.schema,
            source_partition=self._partition,
            source_offset=offset_at(self.found.file, chunk.after, done=chunk.is_last),
            utf8=chunk.utf8,
            offsets=lambda: self._offsets(chunk),
        )

    def close(self) -> None:
        """Let go of the file."""
        self._reader.close()

    def _offsets(self, chunk: Chunk) -> list[dict[str, int | bool]]:
        found = [offset_at(self.found.file, place, done=False) for place in chunk.places()]
        return [*found[:-1], offset_at(self.found.file, chunk.after, done=chunk.is_last)]

    def _unreadable(self, error: DataError) -> ConnectError:
        return ConnectError(
            f"Cannot read {self.found.file.path} in {self._store.name} as {self.found.picked.format}: "
            f"{error.message}. Mend or remove the file, leave it out by '{spec.PATTERN}', or set "
            f"'{spec.FORMAT}'"
        )
