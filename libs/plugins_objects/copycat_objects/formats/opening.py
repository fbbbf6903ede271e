"""Which format a file has, and how it is opened for reading from a place on."""

from __future__ import annotations

import gzip
import io
from collections.abc import Mapping
from typing import BinaryIO, Final

import pyarrow as pa
from copycat_connect.errors import ConnectError, DataError

from copycat_objects.formats.avro_reader import AvroReader
from copycat_objects.formats.csv_reader import CsvOptions, CsvReader
from copycat_objects.formats.line_stream import LineStream
from copycat_objects.formats.lines_reader import byte_lines, json_lines, text_lines
from copycat_objects.formats.parquet_reader import ParquetReader
from copycat_objects.formats.reader import RecordPlace, RecordReader
from copycat_objects.stores.pieces import answer_file
from copycat_objects.stores.ranged_file import RangedFile
from copycat_objects.stores.store import Store, StoredFile

#: The formats by the ends of names.
_BY_END: Final[Mapping[str, str]] = {
    "parquet": "parquet",
    "avro": "avro",
    "json": "json",
    "jsonl": "json",
    "ndjson": "json",
    "csv": "csv",
    "txt": "string",
    "log": "string",
    "bin": "bytes",
}
_READ_BYTES: Final = 1 << 20
_COMPRESSED: Final = (".gz", ".zst")


def format_of(path: str) -> str | None:
    """Return the format that the end of a name means, also one before `.gz` and `.zst`; None for others."""
    for end in _COMPRESSED:
        path = path.removesuffix(end)
    return _BY_END.get(path.rpartition(".")[2].lower())


def open_reader(
    store: Store, file: StoredFile, kind: str, start: RecordPlace, options: CsvOptions
) -> RecordReader:
    """Open a file.

    Args:
        store: Where it is.
        file: What is known of it.
        kind: `parquet`, `avro`, `json`, `csv`, `string` or `bytes`.
        start: Where to begin.
        options: How text is written, and CSV.

    Raises:
        DataError: It is not of that format.
        FileMissingError: It is gone.
        ConnectError: The store's other errors.
    """
    match kind:
        case "parquet":
            return ParquetReader(RangedFile(store, file.path, file.size), start)
        case "avro":
            ranged = RangedFile(store, file.path, file.size)
            return AvroReader(io.BufferedReader(ranged, _READ_BYTES), start)  # fastavro asks where it is
        case "csv":
            return _csv(store, file.path, start, options)
    lines, known = _lines(store, file.path, start)
    if kind == "bytes":
        return byte_lines(lines, known)
    return (json_lines if kind == "json" else text_lines)(lines, known, options.encoding)


def _csv(store: Store, path: str, start: RecordPlace, options: CsvOptions) -> RecordReader:
    columns = None
    if start.position and not _is_compressed(path):
        head = CsvReader(_lines(store, path, RecordPlace())[0], RecordPlace(), options, None)
        columns = head.first_columns()
        head.close()
    lines, known = _lines(store, path, start)
    return CsvReader(lines, known, options, columns)


def _lines(store: Store, path: str, start: RecordPlace) -> tuple[LineStream, RecordPlace]:
    """Open a file of lines; also returns the start with a position where the file has positions."""
    if _is_compressed(path):
        return LineStream(answer_file(_Decompressed(store.open(path), path), _broken)), RecordPlace(
            start.record
        )
    if start.record and start.position is None:
        return LineStream(store.open(path)), RecordPlace(start.record, 0)
    position = start.position or 0
    return LineStream(store.open(path, position), position), RecordPlace(start.record, position)


def _is_compressed(path: str) -> bool:
    return path.endswith(_COMPRESSED)


class _Decompressed:
    """The content of a compressed file; with it this closes the file."""

    def __init__(self, file: BinaryIO, path: str) -> None:
        self._file = file
        self._content = (
            gzip.GzipFile(fileobj=file)
            if path.endswith(".gz")
            else pa.CompressedInputStream(pa.PythonFile(file, mode="r"), "zstd")
        )

    def read(self, amount: int) -> bytes:
        return bytes(self._content.read(amount))

    def close(self) -> None:
        self._content.close()
        self._file.close()


def _broken(error: Exception) -> ConnectError:
    if isinstance(error, ConnectError):
        return error  # of the store, on its way through
    return DataError(f"What is compressed is broken: {error}")
