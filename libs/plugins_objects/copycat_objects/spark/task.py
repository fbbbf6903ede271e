"""SparkSource's task: finds files and ranges of keys in the driver, and makes records of their rows."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
from copycat_connect.data import STRING_SCHEMA, ConnectValue, Schema, SourceBatch, SourceRecord
from copycat_connect.errors import ConnectError, DataError
from copycat_connect.plugin import RowQuery, SparkSourceTask, SparkUnit
from copycat_connect.plugin.contexts import SourceOffset
from copycat_connect.plugin.row_query import PLACE

from copycat_objects.formats.arrow_reading import struct_rows
from copycat_objects.formats.parquet_reader import parquet_columns
from copycat_objects.formats.reader import RecordPlace
from copycat_objects.source.choice import StoreFileChoice, StoreListing
from copycat_objects.source.positions import is_done, offset_at, place_in
from copycat_objects.spark.connector import open_files
from copycat_objects.spark.databases import DatabaseRanges
from copycat_objects.spark.followed_tables import FollowedTable, TableTrouble, TableUnits
from copycat_objects.spark.key_ranges import KeyLook
from copycat_objects.spark.placed_rows import (
    CountedRows,
    PlacedRows,
    Read,
    behind,
    counted,
    file_unit,
    literal_path,
    spark_reader,
)
from copycat_objects.spark.python_sources import PythonSource
from copycat_objects.spark.settings import DELTA, JDBC, PARQUET, SKIP, TABLES, TEXT, SparkSourceSettings
from copycat_objects.spark.table_frames import files_frame, open_table
from copycat_objects.stores.ranged_file import RangedFile
from copycat_objects.stores.store import Store, path_of

_LOOK_SECONDS: Final = 0.5
_WAIT_SECONDS: Final = 0.5
#: Spark's hidden column, which of Parquet has the numbers of the rows.
_METADATA: Final = "_metadata"
#: Of the numbers that Spark gives to rows: above is the number of the partition, each of which has one file.
_ROW_BITS: Final = (1 << 33) - 1
#: What the columns of a Parquet file depend on, beside the types that all readers see.
_SCHEMA_KEYS: Final = (b"org.apache.spark.sql.parquet.row.metadata", b"parquet.avro.schema")


class SparkFilesTask(SparkSourceTask):
    """A unit is a file (`Found`, `TableFile`), a mark of a table, or what `CountedRows` have."""

    _counted: CountedRows | None = None
    _table: TableUnits | None = None

    def open(self, config: Mapping[str, str]) -> None:
        """Open the store; nothing is called there yet."""
        self._settings = settings = SparkSourceSettings.parse(config)
        self.query = settings.query
        self._next_look = 0.0
        self._counted = counted_rows(settings)
        if self._counted is not None:
            return
        self._store = open_files(settings)
        self._listing = StoreListing(self._store, StoreFileChoice(settings, 0, 1), settings.min_age_millis)

    def start(self, config: Mapping[str, str]) -> None:
        """Open the store and, where there is one, the table, which the driver alone reads."""
        self.open(config)
        if self._settings.format in TABLES:
            self._table = followed_table(self._settings, self._store)

    def plan(self) -> list[SparkUnit]:
        """Look for new files where it is time to, else wait for a moment."""
        left = self._next_look - time.monotonic()
        if left > 0:
            self.context.wait(min(left, _WAIT_SECONDS))
            return []
        if self._table is not None:
            return self._plan_table(self._table)
        if self._counted is not None:
            units = self._counted.plan(self.context.offset)
            self._next_look = 0.0 if units else time.monotonic() + _LOOK_SECONDS
            return units
        new = self._listing.advance(_LOOK_SECONDS)
        if new is None:
            return []
        missing = self._listing.missing
        self.context.waiting(missing and f"folder {missing}, which does not exist")
        self._next_look = time.monotonic() + self._settings.poll_seconds
        return [file_unit(self._store.name, found) for found in new]

    def is_done(self, unit: SparkUnit, offset: SourceOffset | None) -> bool:
        """Return whether all of a file, as it is now, or of a range is committed, or what a mark says."""
        if self._counted is not None:
            return self._counted.is_done(unit.content, offset)
        return unit.content.is_read(offset) if unit.is_mark else is_done(unit.content.file, offset)

    def frame(self, session: Any, units: Sequence[SparkUnit]) -> tuple[Any, int]:  # noqa: ANN401 - PySpark's
        """Have Spark read a file, or those first ones in which it finds the same columns."""
        if self._table is not None:
            return self._table_frame(self._table.table, session, units)
        if self._counted is not None:
            return self._counted.frame(session, units[0].content), 1
        one = self._load(session, units[:1])
        hidden, is_parquet = _METADATA not in one.columns, self._settings.format == PARQUET
        count = self._alike(session, units, one.schema) if hidden else 1
        # Numbers that are not counted while it reads let Spark leave out what a WHERE leaves out.
        number = f"{_METADATA}.row_index" if is_parquet else f"monotonically_increasing_id() & {_ROW_BITS}"
        if count > 1:
            rows = self._load(session, units[:count], one.schema)
            return rows.selectExpr("*", f"{self._place(number)} AS {PLACE}"), count
        if self.query is not None and hidden:
            return one.selectExpr("*", f"{number} AS {PLACE}"), 1
        return one, 1

    def batches(
        self, units: Sequence[SparkUnit], offsets: Sequence[SourceOffset | None], rows: Iterator[Any]
    ) -> Iterator[SourceBatch | Sequence[SourceRecord]]:
        """Make records of rows, the first ones of each file left out that are committed."""
        if units[0].is_mark:
            if isinstance(units[0].content, TableTrouble):
                raise ConnectError(units[0].content.text)
            return
        if self._counted is not None:
            yield from self._counted_batches(units[0], offsets[0], rows)
            return
        read = self._reader(units[0])
        if self.query is None and len(units) == 1:
            yield from counted(units[0], place_in(units[0].content.file, offsets[0]).record, rows, read)
            return
        starts = {
            path_of(self._address(unit)): (
                unit,
                None if self.is_done(unit, offset) else place_in(unit.content.file, offset).record,
            )
            for unit, offset in zip(units, offsets, strict=True)
        }
        placed = PlacedRows(starts, self.query or RowQuery(), read, self._settings.topic, behind)
        for batch in rows:
            yield from placed.batches(batch)

    def end_of(self, unit: SparkUnit, offset: SourceOffset | None) -> SourceOffset:
        """Return the offset at the end of a file or a range, or that of a mark."""
        if self._counted is not None:
            return self._counted.end_of(unit.content, offset)
        if unit.is_mark:
            return dict(unit.content.offset())
        file = unit.content.file
        return offset_at(file, RecordPlace(place_in(file, offset).record), done=True)

    def stop(self) -> None:
        """Let go of the connections to the store of the files, and to a catalog."""
        if self._table is not None:
            self._table.table.close()
        if hasattr(self, "_store"):
            self._store.close()

    def _counted_batches(
        self, unit: SparkUnit, offset: SourceOffset | None, rows: Iterator[Any]
    ) -> Iterator[SourceBatch | Sequence[SourceRecord]]:
        """Make records of the rows of a range or a partition; a look for keys has none."""
        if isinstance(unit.content, KeyLook):
            return
        start, read = unit.content.record(offset), spark_reader(may_be_whole=self._has_sql)
        if self.query is None:
            yield from counted(unit, start, rows, read)
            return
        placed = PlacedRows({"": (unit, start)}, self.query, read, self._settings.topic, behind)
        for batch in rows:
            yield from placed.batches(batch)

    @property
    def _has_sql(self) -> bool:
        return self.query is not None and self.query.sql is not None

    def _plan_table(self, table: TableUnits) -> list[SparkUnit]:
        units = table.plan(lambda: self.context.offset(table.partition))
        self.context.waiting(table.missing)
        if not units:
            self._next_look = time.monotonic() + self._settings.poll_seconds
        return units

    def _table_frame(
        self,
        table: FollowedTable,
        session: Any,  # noqa: ANN401 - PySpark's
        units: Sequence[SparkUnit],
    ) -> tuple[Any, int]:
        """Have Spark read those first files of a table whose columns and partitions are the same."""
        columns = table.columns_of(units[0].content)
        hidden, number = f"`{_METADATA}`" not in columns[1], f"{_METADATA}.row_index"
        alike = takewhile(lambda unit: table.columns_of(unit.content) == columns, units[1:] if hidden else ())
        files = [units[0].content, *(unit.content for unit in alike)]
        place = []
        if len(files) > 1:
            place = [f"{self._place(number)} AS {PLACE}"]
        elif self.query is not None and hidden:
            place = [f"{number} AS {PLACE}"]
        options = self._settings.options
        return files_frame(session, self._store, files, columns, *place, options=options), len(files)

    def _place(self, number: str) -> str:
        """Return the expression of a row's place where several files are read, given that of its number."""
        file = f"{_METADATA}.file_path"
        if self.query is None or self.query.sql is None:
            # No row is left out: the first one names the file of those behind it.
            file = f"IF({number} = 0, {file}, NULL)"
        return f"named_struct('file', {file}, 'row', {number})"

    def _address(self, unit: SparkUnit) -> str:
        return f"{self._store.name.rstrip('/')}/{unit.content.file.path}"

    def _load(self, session: Any, units: Sequence[SparkUnit], schema: Any = None) -> Any:  # noqa: ANN401 - PySpark's
        reader = session.read.format(self._settings.format).options(**self._settings.options)
        paths = [literal_path(self._address(unit)) for unit in units]
        return (reader if schema is None else reader.schema(schema)).load(paths)

    def _alike(self, session: Any, units: Sequence[SparkUnit], schema: Any) -> int:  # noqa: ANN401 - PySpark's
        """Return how many of the first units have the columns of the very first."""
        if self._settings.format == TEXT:
            return len(units)
        if self._settings.format == PARQUET:
            first = self._footer(units[0]) if len(units) > 1 else None
            others = (first is not None and self._footer(unit) == first for unit in units[1:])
        else:
            others = (self._load(session, [unit]).schema == schema for unit in units[1:])
        return 1 + sum(1 for _ in takewhile(bool, others))

    def _footer(self, unit: SparkUnit) -> tuple[Any, ...] | None:
        """Return what the columns of a Parquet file depend on; None of another file."""
        file = unit.content.file
        try:
            with pq.ParquetFile(RangedFile(self._store, file.path, file.size)) as parquet:
                said = parquet.metadata.metadata or {}
                return (parquet.schema, parquet.schema_arrow, *(said.get(key) for key in _SCHEMA_KEYS))
        except (pa.ArrowException, OSError):
            return None

    def _reader(self, unit: SparkUnit) -> Read:
        """Return what makes values of a batch of rows."""
        if self._has_sql:
            return spark_reader(may_be_whole=True)
        if self._settings.format == PARQUET:
            return self._parquet_reader(unit)
        if self._settings.format == TEXT:
            return lambda batch: (STRING_SCHEMA, batch.column(0).to_pylist())
        return spark_reader(may_be_whole=False)

    def _parquet_reader(self, unit: SparkUnit) -> Read:
        """Read with the types that the file has: Spark's are fewer, and may all be null."""
        file = unit.content.file
        try:
            with pq.ParquetFile(RangedFile(self._store, file.path, file.size)) as parquet:
                types = parquet.schema_arrow.types
                schema, columns, is_struct = parquet_columns(parquet)
        except (pa.ArrowException, OSError) as error:
            raise DataError(f"{unit.name} is no Parquet file, or broken: {error}") from error

        def read(batch: Any) -> tuple[Schema, Sequence[ConnectValue]]:  # noqa: ANN401 - Arrow's
            arrays = [
                array if array.type == type_ else array.cast(type_, safe=False)
                for array, type_ in zip(batch.columns, types, strict=True)
            ]
            if not is_struct:
                return schema, columns[0].values(arrays[0])
            return schema, struct_rows(schema, columns, arrays, batch.num_rows)

        return read


def counted_rows(settings: SparkSourceSettings) -> CountedRows | None:
    """Return what plans and reads rows that are in no files; None where they are in files."""
    if settings.format == JDBC:
        return DatabaseRanges(settings.database, settings.table_keys())
    if settings.is_python:
        topic, poll_seconds = settings.topic, settings.poll_seconds
        return PythonSource(settings.format, settings.options, topic, poll_seconds=poll_seconds)
    return None


def followed_table(settings: SparkSourceSettings, store: Store) -> TableUnits:
    """Return what plans the files of a table; nothing is called yet."""
    folder, catalog, changes = settings.prefix.strip("/"), settings.iceberg, settings.iceberg_changes
    if settings.format == DELTA:
        log = open_table(store, folder, settings.topic, None, skip_changes=settings.delta_changes == SKIP)
        return TableUnits(log, store.name, folder)
    table = open_table(store, folder, settings.topic, catalog, skip_changes=changes == SKIP)
    return TableUnits(table, store.name, catalog.table, follows=settings.follows_snapshots)
