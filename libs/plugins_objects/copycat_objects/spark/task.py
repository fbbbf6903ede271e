"""SparkSource's task: lists files in the driver, and makes records of their rows in Spark's partitions."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
from copycat_connect.data import STRING_SCHEMA, ConnectValue, Schema, SourceBatch, SourceRecord
from copycat_connect.errors import DataError
from copycat_connect.plugin import SparkSourceTask, SparkUnit
from copycat_connect.plugin.contexts import SourceOffset
from copycat_connect.plugin.row_query import PLACE

from copycat_objects.formats.parquet_reader import parquet_columns
from copycat_objects.formats.reader import Place
from copycat_objects.source.choice import Choice, Found, Listing
from copycat_objects.source.positions import is_done, offset_at, partition_of, place_in
from copycat_objects.spark.connector import open_files
from copycat_objects.spark.placed_rows import PlacedRows, Read, spark_reader, structs_of
from copycat_objects.spark.settings import PARQUET, TEXT, SparkSourceSettings
from copycat_objects.stores.ranged_file import RangedFile

_LOOK_SECONDS: Final = 0.5
_WAIT_SECONDS: Final = 0.5
#: What Spark takes for a pattern in a path.
_PATTERN: Final = re.compile(r"([\\*?\[\]{}])")
#: Spark's hidden column, which of Parquet has the numbers of the rows.
_METADATA: Final = "_metadata"


class SparkFilesTask(SparkSourceTask):
    """A unit is a file (`Found`)."""

    def open(self, config: Mapping[str, str]) -> None:
        """Open the store; nothing is called there yet."""
        self._settings = settings = SparkSourceSettings.parse(config)
        self.query = settings.query
        self._store = open_files(settings)
        self._listing = Listing(self._store, Choice(settings, 0, 1), settings.min_age_millis)
        self._next_look = 0.0

    def plan(self) -> list[SparkUnit]:
        """Look for new files where it is time to, else wait for a moment."""
        left = self._next_look - time.monotonic()
        if left > 0:
            self.context.wait(min(left, _WAIT_SECONDS))
            return []
        new = self._listing.advance(_LOOK_SECONDS)
        if new is None:
            return []
        missing = self._listing.missing
        self.context.waiting(missing and f"folder {missing}, which does not exist")
        self._next_look = time.monotonic() + self._settings.poll_seconds
        return [self._unit(found) for found in new]

    def is_done(self, unit: SparkUnit, offset: SourceOffset | None) -> bool:
        """Return whether all records of the file, as it is now, are committed."""
        return is_done(unit.content.file, offset)

    def frame(self, session: Any, unit: SparkUnit) -> Any:  # noqa: ANN401 - PySpark's
        """Have Spark read one file."""
        path = _PATTERN.sub(r"\\\1", f"{self._store.name.rstrip('/')}/{unit.content.file.path}")
        rows = session.read.format(self._settings.format).options(**self._settings.options).load(path)
        if self.query is None or self._settings.format != PARQUET or _METADATA in rows.columns:
            return rows
        # Numbers that are not counted while it reads let Spark leave out what a WHERE leaves out.
        return rows.selectExpr("*", f"{_METADATA}.row_index AS {PLACE}")

    def batches(
        self, unit: SparkUnit, offset: SourceOffset | None, rows: Iterator[Any]
    ) -> Iterator[SourceBatch | Sequence[SourceRecord]]:
        """Make records of rows, the first ones left out that are committed."""
        file, topic = unit.content.file, unit.content.picked.topic
        record, skip = 0, place_in(file, offset).record
        read = self._reader(unit)
        if self.query is not None:
            placed = PlacedRows(unit, self.query, read)
            yield from filter(None, (placed.records(batch, skip) for batch in rows))
            return
        for batch in rows:
            record += batch.num_rows
            if record <= skip:
                continue
            behind = batch.slice(max(batch.num_rows - (record - skip), 0))
            schema, values = read(behind)
            yield SourceBatch(
                topic,
                values,
                value_schema=schema,
                source_partition=unit.partition,
                source_offset=offset_at(file, Place(record), done=False),
            )

    def end_of(self, unit: SparkUnit, offset: SourceOffset | None) -> SourceOffset:
        """Return the offset at the end of a file."""
        file = unit.content.file
        return offset_at(file, Place(place_in(file, offset).record), done=True)

    def stop(self) -> None:
        """Let go of the connection to the store of the files."""
        if hasattr(self, "_store"):
            self._store.close()

    def _unit(self, found: Found) -> SparkUnit:
        path = found.file.path
        return SparkUnit(partition_of(self._store.name, path), f"{path} in {self._store.name}", found)

    def _reader(self, unit: SparkUnit) -> Read:
        """Return what makes values of a batch of rows."""
        if self.query is not None and self.query.sql is not None:
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

        def read(batch: Any) -> tuple[Schema, list[ConnectValue]]:  # noqa: ANN401 - Arrow's
            arrays = [
                array if array.type == type_ else array.cast(type_, safe=False)
                for array, type_ in zip(batch.columns, types, strict=True)
            ]
            return schema, structs_of(schema, columns, arrays) if is_struct else columns[0].values(arrays[0])

        return read
