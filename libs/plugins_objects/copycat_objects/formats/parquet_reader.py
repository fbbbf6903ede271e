"""Parquet files, read row group by row group."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
from copycat_connect.data import ConnectValue, Schema, SchemaType
from copycat_connect.errors import DataError

from copycat_objects.formats.arrow_reading import ArrowColumn, arrow_column, struct_columns, struct_rows
from copycat_objects.formats.avro_reader import connect_schema
from copycat_objects.formats.reader import Chunk, RecordPlace, Unread, counted, unread
from copycat_objects.stores.ranged_file import RangedFile

#: The key of a file's metadata with Connect's schema as the Avro converter writes it.
_AVRO_SCHEMA: Final = b"parquet.avro.schema"
#: The column of values that are no structs.
_VALUE: Final = "value"
#: What is read of a column at once.
_BUFFER_BYTES: Final = 4 << 20
#: Rows that Arrow decodes at once, at most; chunks are cut out of them.
_ROWS: Final = 1 << 14
#: Bytes that they have, about: Arrow holds several times as much while it decodes.
_DECODED_BYTES: Final = 1 << 20
#: What is raised for a value that Connect cannot hold; rows are decoded already.
_BAD_VALUES: Final = (DataError, ArithmeticError, TypeError, ValueError, pa.ArrowInvalid)


class ParquetReader:
    """Reads rows from a number on; row groups before it are not read."""

    def __init__(self, file: RangedFile, start: RecordPlace) -> None:
        """Read the directory of a file; with it this closes the file.

        Raises:
            DataError: It is no Parquet file, or Connect has nothing for its columns.
        """
        self._file = file
        try:
            self._parquet = pq.ParquetFile(file, buffer_size=_BUFFER_BYTES, pre_buffer=False)
            self.schema, self._columns, self._is_struct = parquet_columns(self._parquet)
        except (pa.ArrowException, OSError) as error:
            raise _broken(error) from error
        self._rows: int = self._parquet.metadata.num_rows
        self._record = start.record
        self._batches = self._decoded(start.record)
        self._batch: Any = None
        self._taken = 0
        self._has_unread = False

    def read(self, limit: int) -> Chunk:
        """Return the next rows; see the port."""
        first = self._record
        values: Sequence[ConnectValue | Unread] = []
        try:
            if self._record < self._rows:
                values = self._next(limit)
        except (pa.ArrowException, OSError) as error:
            raise _broken(error) from error
        self._record += len(values)
        last, has_unread = self._record >= self._rows, self._has_unread
        return counted(values, self.schema, first, is_last=last, has_unread=has_unread)

    def close(self) -> None:
        """Close the file."""
        self._parquet.close()
        self._file.close()

    def _next(self, limit: int) -> Sequence[ConnectValue | Unread]:
        while self._batch is None or self._taken >= self._batch.num_rows:
            self._batch, self._taken = next(self._batches), 0
        cut = self._batch.slice(self._taken, limit)
        self._taken += cut.num_rows
        try:
            return self._values(cut)
        except _BAD_VALUES:
            self._has_unread = True
            return [self._one(cut.slice(place, 1), self._record + place) for place in range(cut.num_rows)]

    def _values(self, rows: Any) -> Sequence[ConnectValue]:  # noqa: ANN401 - Arrow has no types
        if not self._is_struct:
            return self._columns[0].values(rows.columns[0])
        return struct_rows(self.schema, self._columns, rows.columns, rows.num_rows)

    def _one(self, row: Any, record: int) -> ConnectValue | Unread:  # noqa: ANN401 - as above
        try:
            return self._values(row)[0]
        except _BAD_VALUES:
            return self._unread(row, record)

    def _unread(self, row: Any, record: int) -> Unread:  # noqa: ANN401 - as above
        """Return what stands for a row: its values as far as they can be read, as JSON."""
        shown: dict[str, str | None] = {}
        wrong: list[tuple[str, Exception]] = []
        for name, read, array in zip(row.schema.names, self._columns, row.columns, strict=True):
            try:
                (value,) = read.values(array)
                shown[name] = None if value is None else str(value)
            except _BAD_VALUES as error:
                wrong.append((name, error))
        column, why = wrong[0]
        return unread(record + 1, json.dumps(shown, ensure_ascii=False), why, f", column {column},")

    def _decoded(self, first: int) -> Iterator[Any]:
        """Yield batches of rows, from the first one wanted on."""
        record = 0
        for group in range(self._parquet.metadata.num_row_groups):
            about = self._parquet.metadata.row_group(group)
            rows = about.num_rows
            if record + rows > first:
                skip = max(first - record, 0)
                fitting = _DECODED_BYTES * rows // max(about.total_byte_size, 1)
                size = min(max(fitting, 1), _ROWS)
                for batch in self._parquet.iter_batches(batch_size=size, row_groups=[group]):
                    if skip < batch.num_rows:
                        yield batch.slice(skip)
                    skip = max(skip - batch.num_rows, 0)
            record += rows


def parquet_columns(parquet: pq.ParquetFile) -> tuple[Schema, list[ArrowColumn], bool]:
    """Return the schema of values, how each column is read, and whether values are structs."""
    arrow = parquet.schema_arrow
    text = (arrow.metadata or {}).get(_AVRO_SCHEMA)
    wanted = None if text is None else connect_schema(text.decode())
    if wanted is not None and wanted.type is not SchemaType.STRUCT and arrow.names == [_VALUE]:
        column = arrow_column(arrow.field(0), wanted)
        return column.schema, [column], False
    schema, columns = struct_columns(list(arrow), wanted, optional=False)
    return schema, columns, True


def _broken(error: Exception) -> DataError:
    return DataError(f"It is no Parquet file, or broken: {error}")
