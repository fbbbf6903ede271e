"""Parquet files: one column a field, in row groups that are written as soon as they are full."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from operator import attrgetter
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
from copycat_avro.options import AvroOptions
from copycat_avro.to_avro import AvroTypes
from copycat_connect.data import ConnectValue, Schema, SchemaType
from copycat_connect.errors import DataError

from copycat_objects.formats.arrow_types import (
    ArrowType,
    arrow_type,
    columns_of,
    fields_of,
)
from copycat_objects.formats.format import ByteSink

AVRO_SCHEMA: Final = b"parquet.avro.schema"
"""The key of a file's metadata with Connect's schema as the Avro converter writes it."""
VALUE: Final = "value"
"""The column of values that are no structs."""
#: What names of files have for codecs whose own name it is not.
_CODEC_NAMES: Final = {"none": "", "gzip": ".gz", "brotli": ".br"}
_GROUP_ROWS: Final = 1 << 17
_GROUP_BYTES: Final = 1 << 26
#: What is raised for values that do not fit the schema.
MISFITS: Final = (pa.ArrowException, AttributeError, OverflowError, TypeError, ValueError)
_values = attrgetter("values")


class ParquetFiles:
    """The format."""

    needs_schema = True

    def __init__(self, codec: str, *, codec_in_name: bool = False) -> None:
        """Choose a codec, and whether names of files show it."""
        self._codec = codec
        self.extension = (_CODEC_NAMES.get(codec, f".{codec}") if codec_in_name else "") + ".parquet"

    def named_with_codec(self) -> ParquetFiles:
        """Return this format with files whose names show the codec."""
        return ParquetFiles(self._codec, codec_in_name=True)

    def writer(self, sink: ByteSink, schema: Schema | None) -> ParquetWriter:
        """Begin a file."""
        if schema is None:
            raise DataError(
                "Parquet files need values with a schema: use a converter that gives one, or "
                "'format.class' json"
            )
        return ParquetWriter(sink, schema, self._codec)


class ParquetWriter:
    """Writes Connect's values as rows."""

    def __init__(self, sink: ByteSink, schema: Schema, codec: str) -> None:
        """Write to a sink."""
        self._is_struct = schema.type is SchemaType.STRUCT
        self._schema, self._fields = _columns(schema)
        self._groups = RowGroups(sink, self._schema, codec)

    @property
    def waiting(self) -> int:
        """Bytes of rows that are in memory."""
        return self._groups.waiting

    def write(self, values: Sequence[ConnectValue]) -> None:
        """Append rows."""
        try:
            rows = list(map(_values, values)) if self._is_struct else [(value,) for value in values]
            columns = columns_of(self._fields, rows)
            batch = pa.RecordBatch.from_arrays(columns, schema=self._schema)
        except MISFITS as error:
            raise DataError(f"A value does not fit its schema: {type(error).__name__} {error}") from error
        self._groups.append(batch)

    def finish(self) -> None:
        """Write the row group that is not full, and the end of the file."""
        self._groups.finish()


class RowGroups:
    """A file of Parquet, of which one row group is kept in memory."""

    def __init__(self, sink: ByteSink, schema: pa.Schema, codec: str) -> None:
        """Write to a sink, which is not closed."""
        self._file: Any = pq.ParquetWriter(ArrowFile(sink), schema, compression=codec)
        self._batches: list[pa.RecordBatch] = []
        self._rows = 0
        self.waiting = 0
        """Bytes of rows that are in memory."""

    def append(self, rows: pa.RecordBatch) -> None:
        """Append rows; a row group that is full is written."""
        self._batches.append(rows)
        self._rows += rows.num_rows
        self.waiting += rows.nbytes
        if self._rows >= _GROUP_ROWS or self.waiting >= _GROUP_BYTES:
            self._end_group()

    def finish(self) -> None:
        """Write the row group that is not full, and the end of the file."""
        self._end_group()
        self._file.close()

    def _end_group(self) -> None:
        if self._batches:
            self._file.write_table(pa.Table.from_batches(self._batches), row_group_size=self._rows)
        self._batches, self._rows, self.waiting = [], 0, 0


@lru_cache(maxsize=64)
def _columns(schema: Schema) -> tuple[pa.Schema, list[tuple[pa.Field, ArrowType]]]:
    """Return Arrow's schema of a file, and its columns."""
    if schema.type is SchemaType.STRUCT:
        fields = fields_of(schema)
    else:
        found = arrow_type(schema)
        fields = [(pa.field(VALUE, found.type, nullable=schema.optional), found)]
    if not fields:
        raise DataError("Parquet has no struct without fields")
    avro = json.dumps(AvroTypes(AvroOptions.parse({})).of(schema).json, separators=(",", ":"))
    return pa.schema([field for field, _ in fields], metadata={AVRO_SCHEMA: avro.encode()}), fields


class ArrowFile:
    """A sink as Arrow wants files."""

    closed = False

    def __init__(self, sink: ByteSink) -> None:
        """Write to a sink, which is not closed."""
        self._sink = sink
        self._size = 0

    def write(self, content: pa.Buffer | bytes) -> int:
        """Append bytes."""
        view = memoryview(content)
        self._sink.write(view)
        self._size += view.nbytes
        return view.nbytes

    def tell(self) -> int:
        """Return how many bytes it has."""
        return self._size

    def flush(self) -> None:
        """Do nothing: the sink itself decides."""

    def close(self) -> None:
        """Note that Arrow is done with it."""
        self.closed = True
