"""SparkSink's task: what it does in partitions of Spark, where files are written, and in the driver."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain

from copycat_connect.data import SinkBatch, TopicPartition
from copycat_connect.errors import DataError
from copycat_connect.plugin import SparkSinkTask

from copycat_objects.spark_sink.connector import check, open_table
from copycat_objects.spark_sink.keyed_rows import KeyedRows, newest
from copycat_objects.spark_sink.settings import ORC, RECORD_KEY, UPSERT, SparkSinkSettings
from copycat_objects.spark_sink.table_commits import TableCommits
from copycat_objects.spark_sink.table_files import TableWriter, WrittenFile, read_rows
from copycat_objects.spark_sink.table_rows import ColumnTypes, RowMaker, ValueRows
from copycat_objects.stores.store import Store


class SparkTableTask(SparkSinkTask):
    """Writes records to a table."""

    _store: Store | None = None
    _commits: TableCommits

    def prepare(self, config: Mapping[str, str]) -> None:
        """Read the configuration; the table is not looked at yet."""
        self._settings = settings = SparkSinkSettings.parse(config)
        check(settings)
        self.interval_seconds, self.range_records = settings.interval_seconds, settings.flush_size
        self._commits = open_table(settings, config["name"], self._opened())
        self._taken: list[WrittenFile] = []
        self._reached: dict[TopicPartition, int] = {}
        self._lost = False
        self._versions = 0

    def stored_positions(self, partitions: Collection[TopicPartition]) -> Mapping[TopicPartition, int]:
        """Bar the tasks before, and return what the table has."""
        self._taken = []
        self._commits.claim()
        self._lost = False
        self._reached = self._commits.positions(partitions)
        return self._reached

    def open(self, partitions: Collection[TopicPartition]) -> None:
        """Go on behind what the table has, wherever the consumer group is."""
        if positions := self.stored_positions(partitions):
            self.context.offset(positions)

    def write(self, batches: Iterator[SinkBatch]) -> list[WrittenFile]:
        """Write files that no version of the table has yet."""
        settings = self._settings
        columns = self._commits.columns()
        writer = TableWriter(
            self._opened(),
            settings.prefix.strip("/"),
            self._report,
            rows=self._row_maker(columns.types),
            # Files of rows that are merged are not the table's.
            partition_by=() if self._is_upsert else columns.divided_by,
            keeps_partitions=columns.in_files,
            codec=settings.parquet_codec,
            ignore_nulls=settings.null_values == "ignore",
            staged_in=columns.staged_in,
            as_orc=settings.format == ORC,
        )
        try:
            for batch in batches:
                writer.write(batch)
            return writer.finish()
        except BaseException:
            writer.abort()
            raise

    def take(self, written: Sequence[list[WrittenFile]]) -> None:
        """Note files for the next version."""
        self._taken += chain.from_iterable(written)

    def pre_commit(self, offsets: Mapping[TopicPartition, int]) -> Mapping[TopicPartition, int]:
        """Make a version of the table with what was taken.

        After a commit that may have failed nothing is known, until the table is claimed again: reading goes
        on at what it has.
        """
        if self._lost:
            self.open(offsets.keys())
            return {}
        moved = {each: offset for each, offset in offsets.items() if self._reached.get(each) != offset}
        if self._taken or moved:
            taken, self._taken = self._taken, []
            self._lost = True
            if taken and self._is_upsert:
                self._merge(taken, moved)
            else:
                self._commits.add(taken, moved)
            self._compact()
            self._lost = False
            self._reached |= moved
        return offsets

    def stop(self) -> None:
        """Let go of the store and the table."""
        if self._store is not None:
            self._store.close()
        if hasattr(self, "_commits"):
            self._commits.close()

    def _compact(self) -> None:
        """Compact the table once there are enough new versions."""
        every = self._settings.compact_versions
        self._versions += 1
        if every and self._versions >= every:
            self._commits.compact()
            self._versions = 0

    def _merge(self, files: Sequence[WrittenFile], positions: Mapping[TopicPartition, int]) -> None:
        """Merge the rows of files into the table, and delete the files, which no version has."""
        store, settings = self._opened(), self._settings
        paths = ["/".join(filter(None, (settings.prefix.strip("/"), file.path))) for file in files]
        rows = newest(
            [read_rows(store, path, file.size) for path, file in zip(paths, files, strict=True)],
            settings.pk_fields,
        )
        self._commits.merge(rows, settings.pk_fields, positions)
        for path in paths:
            store.delete(path)

    @property
    def _is_upsert(self) -> bool:
        return self._settings.insert_mode == UPSERT

    def _row_maker(self, types: ColumnTypes) -> RowMaker:
        settings = self._settings
        if not self._is_upsert:
            return ValueRows(types)
        of_value = settings.pk_mode != RECORD_KEY
        return KeyedRows(types, settings.pk_fields, of_value=of_value, deletes=settings.delete_enabled)

    def _opened(self) -> Store:
        if self._store is None:
            self._store = self._settings.open_store()
        return self._store

    def _report(self, batch: SinkBatch, place: int, error: DataError) -> None:
        """Report a record that cannot be written.

        Raises:
            DataError: Nobody takes it.
        """
        reporter = self.context.errant_record_reporter
        if reporter is None:
            raise error
        reporter.report(batch[place], error)
