"""Files of a table, as a partition of Spark writes them: one for each schema and table partition.

They are Parquet, or ORC where a folder of files is all there is. There folders have the names that Hive gives
them, and files are elsewhere (`SinkColumns.staged_in`) until a commit has them appear.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, repeat
from operator import is_
from typing import Any, Final, Protocol
from urllib.parse import quote
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.orc as po
import pyarrow.parquet as pq
from copycat_connect.data import ConnectValue, SinkBatch
from copycat_connect.errors import DataError

from copycat_objects.formats.format import ByteSink
from copycat_objects.formats.parquet import ArrowFile, RowGroups
from copycat_objects.records import is_uniform
from copycat_objects.spark_sink.table_rows import RecordRun, RowMaker
from copycat_objects.staging import StagedFile
from copycat_objects.stores.ranged_file import RangedFile
from copycat_objects.stores.store import Store

Report = Callable[[SinkBatch, int, DataError], None]
_NULL_VALUE: Final = (
    "The record has no value. Set behavior.on.null.values to ignore to leave such records out"
)
#: Types of columns by which a table is divided.
_DIVIDING: Final = (pa.types.is_string, pa.types.is_integer, pa.types.is_boolean, pa.types.is_date)
#: What Spark, Hive and others call the folder of rows without a value.
_NULL: Final = "__HIVE_DEFAULT_PARTITION__"
#: Characters that Hive writes as `%` and two digits in names of folders; those beyond ASCII stay.
_ESCAPED: Final = re.compile(r"""[\x00-\x20"#%'*/:=?\\\x7f{}\[\]^]""")
#: Bytes that a name of a folder has at most, and a path in S3 nearly.
_NAME_BYTES, _PATH_BYTES = 255, 900
_ORC_CODECS: Final = {"none": "uncompressed", "gzip": "zlib"}


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A file that is complete, and in no version of the table yet."""

    path: str
    """Its path below the table's folder, once it is committed."""
    size: int
    """Bytes."""
    rows: int
    """How many rows it has."""
    values: Mapping[str, str | None]
    """Contents of the partition columns, as the table's log writes them."""
    schema: pa.Schema
    """All columns, those of the partitions too."""
    staged: str | None = None
    """Its path there until then, where that is another one."""


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
        staged_in: str | None = None,
        as_orc: bool = False,
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
            staged_in: Folder below the table's for the files until they are committed.
            as_orc: Whether the files are ORC.
        """
        self._store, self._folder, self._report = store, folder, report
        self._rows = rows
        self._partition_by, self._keeps_partitions = partition_by, keeps_partitions
        self._codec, self._ignore_nulls = codec, ignore_nulls
        self._staged_in, self._as_orc = staged_in, as_orc
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
        if self._staged_in is not None and not left.schema.names:
            raise DataError("The value has no fields but those by which the table is divided")
        distinct = keys.group_by(list(self._partition_by)).aggregate([]).to_pylist()
        for contents in distinct:
            self._check_folder(contents)
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
        folder = self._folder_of(contents)
        file = self._files.get((folder, schema))
        if file is None:
            number, kind = uuid4().hex, "orc" if self._as_orc else "parquet"
            path = _joined(folder, f"part-{number}.{kind}")
            # Whoever looks for names that end in .parquet does not find it there.
            staged = None if self._staged_in is None else _joined(self._staged_in, f"{number}_tmp")
            whole = _joined(self._folder, staged or path)
            left = [each for each in schema if self._keeps_partitions or each.name not in contents]
            new = StagedFile(whole, self._store.create(whole))
            begin = OrcStripes if self._as_orc else RowGroups
            rows = begin(new, pa.schema(left), self._codec)
            file = _TableFile(new, rows, WrittenFile(path, 0, 0, contents, schema, staged))
            self._files[folder, schema] = file
        return file

    def _folder_of(self, contents: Mapping[str, str | None]) -> str:
        if self._staged_in is None:
            return "/".join(f"{quote(name, '')}={_folder(text)}" for name, text in contents.items())
        return "/".join(
            f"{_escaped(name)}={_escaped(text or '') or _NULL}" for name, text in contents.items()
        )

    def _check_folder(self, contents: Mapping[str, str | None]) -> None:
        """Accept contents that can be names of folders: a commit could not be ended, otherwise.

        Raises:
            DataError: They are too long.
        """
        if self._staged_in is None:
            return
        path = f"{self._folder}/{self._folder_of(contents)}".encode()
        if max(map(len, path.split(b"/"))) <= _NAME_BYTES and len(path) <= _PATH_BYTES:
            return
        raise DataError(
            f"The fields {', '.join(contents)}, by which the files are divided, have {len(path)} bytes as a "
            f"folder: a name may have {_NAME_BYTES}, and all {_PATH_BYTES}"
        )


class _RowsFile(Protocol):
    """Takes rows of a file."""

    def append(self, rows: pa.RecordBatch) -> None: ...

    def finish(self) -> None: ...


class OrcStripes:
    """A file of ORC, of which one stripe, up to 64 MiB, is kept in memory."""

    def __init__(self, sink: ByteSink, schema: pa.Schema, codec: str) -> None:
        """Write to a sink, which is not closed; codecs have the names that they have in Parquet."""
        self._file: Any = po.ORCWriter(ArrowFile(sink), compression=_ORC_CODECS.get(codec, codec))
        self._schema = schema

    def append(self, rows: pa.RecordBatch) -> None:
        """Append rows; a stripe that is full is written."""
        self._file.write(pa.Table.from_batches([rows], self._schema))

    def finish(self) -> None:
        """Write the stripe that is not full, and the end of the file."""
        self._file.close()


class _TableFile:
    """A file of one schema and one table partition, not complete yet."""

    def __init__(self, file: StagedFile, rows: _RowsFile, written: WrittenFile) -> None:
        """Write rows; `written` has what is known of the file before."""
        self._file, self._rows, self._written = file, rows, written
        self._count = 0

    def write(self, rows: pa.RecordBatch) -> None:
        self._rows.append(rows)
        self._count += rows.num_rows

    def finish(self) -> WrittenFile:
        self._rows.finish()
        self._file.seal()
        return replace(self._written, size=self._file.size, rows=self._count)

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
    return _NULL if text is None else quote(text, "")


def _escaped(text: str) -> str:
    """Return a name or a value as names of folders have it."""
    return _ESCAPED.sub(lambda found: f"%{ord(found[0]):02X}", text)


def _joined(*names: str) -> str:
    return "/".join(filter(None, names))
