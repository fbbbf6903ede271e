"""Parquet files of a table, as a partition of Spark writes them: one for each schema and table partition."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby, repeat
from operator import attrgetter, is_
from typing import Any, Final
from urllib.parse import quote
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from copycat_connect.data import ConnectValue, Schema, SchemaType, SinkBatch
from copycat_connect.errors import ConnectError, DataError

from copycat_objects.formats.arrow_types import ArrowType, arrow_type, columns_of, fields_of
from copycat_objects.formats.parquet import MISFITS, VALUE, ArrowFile
from copycat_objects.records import is_uniform
from copycat_objects.stores.store import NewFile, Store

Report = Callable[[SinkBatch, int, DataError], None]
_values = attrgetter("values")
_GROUP_ROWS: Final = 1 << 17
_GROUP_BYTES: Final = 1 << 26
_NO_SCHEMA: Final = (
    "Tables need values with a schema: use a converter that gives one, such as Avro, Protobuf, or JSON with "
    "schemas.enable"
)
_NULL_VALUE: Final = (
    "The record has no value. Set behavior.on.null.values to ignore to leave such records out"
)
#: Types of columns by which a table is divided.
_DIVIDING: Final = (pa.types.is_string, pa.types.is_integer, pa.types.is_boolean, pa.types.is_date)


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A file that is complete, and in no version of the table yet."""

    path: str
    """Its path below the table's folder."""
    size: int
    """Bytes."""
    rows: int
    """How many rows it has."""
    values: Mapping[str, str | None]
    """Contents of the partition columns, as the table's log writes them."""
    schema: pa.Schema
    """All columns, those of the partitions too."""


@dataclass(frozen=True, slots=True)
class _Run:
    """Records of a batch that have one schema, and values."""

    batch: SinkBatch
    places: Sequence[int]
    values: Sequence[ConnectValue]

    def part(self, places: slice) -> _Run:
        return _Run(self.batch, self.places[places], self.values[places])


class TableWriter:
    """Writes the records of ranges, out of sight until a commit names the files."""

    def __init__(
        self,
        store: Store,
        folder: str,
        report: Report,
        *,
        known: pa.Schema | None,
        partition_by: Sequence[str],
        codec: str,
        ignore_nulls: bool,
    ) -> None:
        """Write below a folder of a store.

        Args:
            store: The table's store.
            folder: The table's folder in it.
            report: Takes records that cannot be written.
            known: The columns that the table has; None where it is to be made.
            partition_by: Columns by whose contents files are divided.
            codec: Compression of the files.
            ignore_nulls: Whether records without a value are left out.
        """
        self._store, self._folder, self._report = store, folder, report
        self._known = {} if known is None else {field.name: field.type for field in known}
        self._partition_by, self._codec, self._ignore_nulls = partition_by, codec, ignore_nulls
        self._files: dict[tuple[str, pa.Schema], _TableFile] = {}

    def write(self, batch: SinkBatch) -> None:
        """Write records; those that cannot be written are reported."""
        schemas, values = batch.value_schemas, list(batch.values)
        if any(map(is_, values, repeat(None))):
            for place, value in enumerate(values):
                if value is None and not self._ignore_nulls:
                    self._report(batch, place, DataError(_NULL_VALUE))
        elif values and is_uniform(schemas):
            self._write_run(_Run(batch, range(len(values)), values), schemas[0])
            return
        present = (place for place, value in enumerate(values) if value is not None)
        for schema, run in groupby(present, schemas.__getitem__):
            places = [*run]
            self._write_run(_Run(batch, places, [values[place] for place in places]), schema)

    def finish(self) -> list[WrittenFile]:
        """Make the files complete and durable."""
        return [file.finish() for file in self._files.values()]

    def abort(self) -> None:
        """Drop what was written, as far as the store can be reached."""
        for file in self._files.values():
            file.abort()

    def _write_run(self, run: _Run, schema: Schema | None) -> None:
        """Write records with one schema; where they cannot be written together, the halves by themselves."""
        try:
            rows = _columns_of(schema).rows(run.values, self._known)
            divided = list(self._divided(rows))
        except DataError as error:
            if len(run.places) == 1:
                self._report(run.batch, run.places[0], error)
                return
            half = len(run.places) // 2
            self._write_run(run.part(slice(half)), schema)
            self._write_run(run.part(slice(half, None)), schema)
            return
        for contents, part in divided:
            self._file_of(contents, rows.schema).write(part)

    def _divided(self, rows: pa.RecordBatch) -> Iterator[tuple[dict[str, str | None], pa.RecordBatch]]:
        """Divide rows by the contents of partition columns, which the files do not have."""
        if not self._partition_by:
            yield {}, rows
            return
        keys = pa.table({name: _texts(name, rows) for name in self._partition_by})
        left = rows.drop_columns(list(self._partition_by))
        distinct = keys.group_by(list(self._partition_by)).aggregate([]).to_pylist()
        for contents in distinct:
            if len(distinct) == 1:
                yield contents, left
                return
            chosen: Any = None
            for name, text in contents.items():
                column = keys[name].combine_chunks()
                is_one = pc.is_null(column) if text is None else pc.fill_null(pc.equal(column, text), False)
                chosen = is_one if chosen is None else pc.and_(chosen, is_one)
            yield contents, left.filter(chosen)

    def _file_of(self, contents: dict[str, str | None], schema: pa.Schema) -> _TableFile:
        folder = "/".join(f"{quote(name, '')}={_folder(text)}" for name, text in contents.items())
        file = self._files.get((folder, schema))
        if file is None:
            path = "/".join(filter(None, (folder, f"part-{uuid4().hex}.parquet")))
            whole = "/".join(filter(None, (self._folder, path)))
            file = _TableFile(self._store.create(whole), path, contents, schema, self._codec)
            self._files[folder, schema] = file
        return file


class _TableFile:
    """Keeps one row group in memory."""

    def __init__(
        self, file: NewFile, path: str, contents: Mapping[str, str | None], schema: pa.Schema, codec: str
    ) -> None:
        self._file, self._path, self._contents, self._schema = file, path, contents, schema
        own = pa.schema([field for field in schema if field.name not in contents])
        self._parquet: Any = pq.ParquetWriter(ArrowFile(file), own, compression=codec)
        self._batches: list[pa.RecordBatch] = []
        self._waiting_rows = self._waiting_bytes = self._rows = 0

    def write(self, rows: pa.RecordBatch) -> None:
        self._batches.append(rows)
        self._rows += rows.num_rows
        self._waiting_rows += rows.num_rows
        self._waiting_bytes += rows.nbytes
        if self._waiting_rows >= _GROUP_ROWS or self._waiting_bytes >= _GROUP_BYTES:
            self._end_group()

    def finish(self) -> WrittenFile:
        self._end_group()
        self._parquet.close()
        self._file.close()
        return WrittenFile(self._path, self._file.size, self._rows, self._contents, self._schema)

    def abort(self) -> None:
        self._file.abort()

    def _end_group(self) -> None:
        if self._batches:
            self._parquet.write_table(pa.Table.from_batches(self._batches), row_group_size=self._waiting_rows)
        self._batches, self._waiting_rows, self._waiting_bytes = [], 0, 0


class _Columns:
    """The columns of values with one schema."""

    def __init__(self, schema: Schema) -> None:
        self._is_struct = schema.type is SchemaType.STRUCT
        if self._is_struct:
            self._fields = fields_of(schema)
        else:
            found: ArrowType = arrow_type(schema)
            self._fields = [(pa.field(VALUE, found.type, nullable=schema.optional), found)]
        if not self._fields:
            raise DataError("A table has no columns for a struct without fields")
        self._plain = pa.schema([field for field, _ in self._fields])

    def rows(self, values: Sequence[ConnectValue], known: Mapping[str, pa.DataType]) -> pa.RecordBatch:
        """Return rows with the types that the table has, or would have.

        Raises:
            DataError: A value does not fit its schema or the table.
        """
        rows = list(map(_values, values)) if self._is_struct else [(value,) for value in values]
        try:
            arrays = columns_of(self._fields, rows)
        except MISFITS as error:
            raise DataError(f"A value does not fit its schema: {type(error).__name__} {error}") from error
        fields, columns = [], []
        for field, array in zip(self._plain, arrays, strict=True):
            wanted = known.get(field.name) or table_type(field.type, field.name)
            try:
                columns.append(array if array.type == wanted else array.cast(wanted))
            except pa.ArrowException as error:
                raise DataError(
                    f"The field {field.name} is {field.type}, and does not fit the table's column, which is "
                    f"{wanted}: {error}"
                ) from error
            fields.append(pa.field(field.name, wanted))
        return pa.RecordBatch.from_arrays(columns, schema=pa.schema(fields))


@lru_cache(maxsize=64)
def _columns_of(schema: Schema | None) -> _Columns:
    if schema is None:
        raise DataError(_NO_SCHEMA)
    return _Columns(schema)


def table_type(type_: pa.DataType, name: str) -> pa.DataType:
    """Return the type of a table's column for one of Arrow, all of whose parts may be null.

    Raises:
        DataError: Tables have nothing for it.
    """
    if pa.types.is_timestamp(type_):
        return pa.timestamp("us", tz="UTC")
    if pa.types.is_time32(type_):
        return pa.int32()
    if pa.types.is_decimal256(type_):
        raise DataError(f"The field {name} has more than 38 digits, which no column of a table can have")
    if pa.types.is_struct(type_):
        return pa.struct([pa.field(part.name, table_type(part.type, name)) for part in type_])
    if pa.types.is_list(type_):
        return pa.list_(pa.field("element", table_type(type_.value_type, name)))
    if pa.types.is_map(type_):
        return pa.map_(table_type(type_.key_type, name), table_type(type_.item_type, name))
    return type_


def merged(schemas: Iterable[pa.Schema]) -> pa.Schema:
    """Return all columns of files.

    Raises:
        ConnectError: A column has two types.
    """
    found: dict[str, pa.Field] = {}
    for schema in schemas:
        for field in schema:
            other = found.setdefault(field.name, field)
            if other.type != field.type:
                raise ConnectError(
                    f"The records have a field {field.name} of two types, {other.type} and {field.type}, and "
                    "the table has no such column yet: make the table, or let a transformation unify them"
                )
    return pa.schema(list(found.values()))


def _texts(name: str, rows: pa.RecordBatch) -> pa.Array:
    """Return the contents of a partition column as the table's log writes them."""
    place = rows.schema.get_field_index(name)
    if place < 0:
        raise DataError(f"The value has no field {name}, by which the table is divided")
    column = rows.column(place)
    kind = column.type
    if (
        pa.types.is_string(kind)
        or pa.types.is_integer(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_date(kind)
    ):
        return column.cast(pa.string())
    raise DataError(f"The field {name} is {kind}; a table is divided by texts, integers, booleans and dates")


def _folder(text: str | None) -> str:
    return "__HIVE_DEFAULT_PARTITION__" if text is None else quote(text, "")
