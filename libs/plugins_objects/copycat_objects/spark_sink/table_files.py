"""Parquet files of a table, as a partition of Spark writes them: one for each schema and table partition."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, repeat
from operator import is_
from typing import Any, Final
from urllib.parse import quote
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from copycat_connect.data import ConnectValue, SinkBatch
from copycat_connect.errors import DataError

from copycat_objects.formats.parquet import RowGroups
from copycat_objects.records import is_uniform
from copycat_objects.spark_sink.table_rows import RecordRun, RowMaker
from copycat_objects.stores.ranged_file import RangedFile
from copycat_objects.stores.store import NewFile, Store

Report = Callable[[SinkBatch, int, DataError], None]
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


class TableWriter:
    """Writes the records of ranges, out of sight until a commit names the files."""

    def __init__(
        self,
        store: Store,
        folder: str,
        report: Report,
        *,
        rows: RowMaker,
        partition_by: Sequence[str],
        keeps_partitions: bool,
        codec: str,
        ignore_nulls: bool,
    ) -> None:
        """Write below a folder of a store.

        Args:
            store: The table's store.
            folder: The table's folder in it.
            report: Takes records that cannot be written.
            rows: Makes rows of records.
            partition_by: Columns by whose contents files are divided.
            keeps_partitions: Whether the files have these columns.
            codec: Compression of the files.
            ignore_nulls: Whether records without a value are left out.
        """
        self._store, self._folder, self._report = store, folder, report
        self._rows = rows
        self._partition_by, self._keeps_partitions = partition_by, keeps_partitions
        self._codec, self._ignore_nulls = codec, ignore_nulls
        self._files: dict[tuple[str, pa.Schema], _TableFile] = {}

    def write(self, batch: SinkBatch) -> None:
        """Write records; those that cannot be written are reported."""
        values = list(batch.values)
        whole = RecordRun(batch, range(len(values)), values)
        kinds = self._rows.kinds(whole)
        if values and is_uniform(kinds) and not any(map(is_, values, repeat(None))):
            self._write_run(whole)
            return
        for _, places in groupby(self._wanted(batch, values), kinds.__getitem__):
            self._write_run(whole.part([*places]))

    def _wanted(self, batch: SinkBatch, values: Sequence[ConnectValue]) -> Iterator[int]:
        """Yield the places of records that become rows; records without a value may be reported."""
        for place, value in enumerate(values):
            if value is not None or self._rows.takes_nulls:
                yield place
            elif not self._ignore_nulls:
                self._report(batch, place, DataError(_NULL_VALUE))

    def finish(self) -> list[WrittenFile]:
        """Make the files complete and durable."""
        return [file.finish() for file in self._files.values()]

    def abort(self) -> None:
        """Drop what was written, as far as the store can be reached."""
        for file in self._files.values():
            file.abort()

    def _write_run(self, run: RecordRun) -> None:
        """Write records of one kind; where they cannot be written together, the halves by themselves."""
        try:
            rows = self._rows.make(run)
            divided = list(self._divided(rows))
        except DataError as error:
            count = len(run.places)
            if count == 1:
                self._report(run.batch, run.places[0], error)
                return
            self._write_run(run.part(range(count // 2)))
            self._write_run(run.part(range(count // 2, count)))
            return
        for contents, part in divided:
            self._file_of(contents, rows.schema).write(part)

    def _divided(self, rows: pa.RecordBatch) -> Iterator[tuple[dict[str, str | None], pa.RecordBatch]]:
        """Divide rows by the contents of partition columns."""
        if not self._partition_by:
            yield {}, rows
            return
        keys = pa.table({name: _texts(name, rows) for name in self._partition_by})
        left = rows if self._keeps_partitions else rows.drop_columns(list(self._partition_by))
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
            left = [each for each in schema if self._keeps_partitions or each.name not in contents]
            new = self._store.create(whole)
            file = _TableFile(new, RowGroups(new, pa.schema(left), self._codec), path, contents, schema)
            self._files[folder, schema] = file
        return file


class _TableFile:
    """A file of one schema and one table partition, not complete yet."""

    def __init__(
        self,
        file: NewFile,
        groups: RowGroups,
        path: str,
        contents: Mapping[str, str | None],
        schema: pa.Schema,
    ) -> None:
        self._file, self._groups = file, groups
        self._path, self._contents, self._schema = path, contents, schema
        self._rows = 0

    def write(self, rows: pa.RecordBatch) -> None:
        self._groups.append(rows)
        self._rows += rows.num_rows

    def finish(self) -> WrittenFile:
        self._groups.finish()
        self._file.close()
        return WrittenFile(self._path, self._file.size, self._rows, self._contents, self._schema)

    def abort(self) -> None:
        self._file.abort()


def read_rows(store: Store, path: str, size: int) -> pa.Table:
    """Return the rows of a file that was written."""
    return pq.read_table(RangedFile(store, path, size))


def _texts(name: str, rows: pa.RecordBatch) -> pa.Array:
    """Return the contents of a partition column as the table's log writes them."""
    place = rows.schema.get_field_index(name)
    if place < 0:
        raise DataError(f"The value has no field {name}, by which the table is divided")
    column = rows.column(place)
    kind = column.type
    if any(is_one(kind) for is_one in _DIVIDING):
        return column.cast(pa.string())
    raise DataError(f"The field {name} is {kind}; a table is divided by texts, integers, booleans and dates")


def _folder(text: str | None) -> str:
    return "__HIVE_DEFAULT_PARTITION__" if text is None else quote(text, "")
