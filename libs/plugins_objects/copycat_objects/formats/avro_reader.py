"""Avro container files, read block by block."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from functools import lru_cache
from typing import IO, TYPE_CHECKING, Any, BinaryIO, Final, Protocol

from copycat_avro.from_avro import ConnectTypes
from copycat_avro.logical_types import ToAvro
from copycat_avro.options import AvroOptions
from copycat_avro.parsing import expand_text, parse
from copycat_avro.schema_text import SchemaText
from copycat_connect.data import ConnectValue, Schema
from copycat_connect.errors import DataError
from fastavro import block_reader, schemaless_reader

from copycat_objects.formats.reader import Chunk, RecordPlace, Unread, counted, unread

if TYPE_CHECKING:
    from fastavro.types import Schema as ParsedSchema

#: What fastavro raises for bytes that are no Avro.
_MISFITS: Final = (
    AttributeError, EOFError, IndexError, KeyError, MemoryError, OverflowError, RecursionError, StopIteration,
    TypeError, UnicodeDecodeError, ValueError,
)  # fmt: skip
_BAD_VALUES: Final = (*_MISFITS, DataError)


class _Block(Protocol):
    """A block as fastavro gives it, decompressed."""

    num_records: int
    bytes_: IO[bytes]


class AvroReader:
    """Reads records from a number on; whole blocks before it are not decoded."""

    def __init__(self, file: BinaryIO, start: RecordPlace) -> None:
        """Read the header of a file that was opened at its beginning; with it this closes the file.

        Raises:
            DataError: It is no Avro file, or Connect has nothing for its schema.
        """
        self._file = file
        self._record = 0
        self._has_unread = False
        try:
            blocks = block_reader(file)
            self._text = json.dumps(blocks.writer_schema)
            self._plan, self.schema, self._convert = _plans(self._text)
        except _MISFITS as error:
            raise _broken(error, 0) from error
        self._values = self._all(iter(blocks), start.record)
        self._ahead = next(self._values, None)
        self._record = start.record

    def read(self, limit: int) -> Chunk:
        """Return the next records; a chunk ends where a block does. See the port."""
        first = self._record
        values: list[ConnectValue | Unread] = []
        while self._ahead is not None and len(values) < limit:
            room = limit - len(values)
            values += self._ahead[:room]
            self._ahead = self._ahead[room:] or next(self._values, None)
            self._record = first + len(values)
        last, has_unread = self._ahead is None, self._has_unread
        return counted(values, self.schema, first, is_last=last, has_unread=has_unread)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _all(self, blocks: Iterator[Any], first: int) -> Iterator[list[ConnectValue | Unread]]:
        """Yield the records of each block, from the first one wanted on."""
        record = 0
        while True:
            try:
                block = next(blocks, None)
                if block is None:
                    return
                found = self._decoded(block, record) if record + block.num_records > first else []
            except _MISFITS as error:
                raise _broken(error, record) from error
            if kept := found[max(first - record, 0) :]:
                yield kept
            record += block.num_records

    def _decoded(self, block: _Block, before: int) -> list[ConnectValue | Unread]:
        content, plan = block.bytes_, self._plan
        begin = content.tell()
        try:
            values = [
                schemaless_reader(content, plan, None, return_named_type=True)
                for _ in range(block.num_records)
            ]
            convert = self._convert
            return [*values] if convert is None else [convert(value) for value in values]
        except _BAD_VALUES:
            content.seek(begin)
            found = [self._one(record, content) for record in range(before, before + block.num_records)]
            self._has_unread = True
            return found

    def _one(self, record: int, content: IO[bytes]) -> ConnectValue | Unread:
        """Return one record, found by where it ends: that bytes alone say, whatever its values are."""
        begin = content.tell()
        schemaless_reader(content, _plan_of_ends(self._text), None)
        size = content.tell() - begin
        content.seek(begin)
        raw = content.read(size)
        try:
            value = schemaless_reader(io.BytesIO(raw), self._plan, None, return_named_type=True)
            return value if self._convert is None else self._convert(value)
        except _BAD_VALUES as error:
            return unread(record + 1, raw, error)


@lru_cache(maxsize=64)
def _plans(text: str) -> tuple[ParsedSchema, Schema, ToAvro | None]:
    schema, convert = ConnectTypes(AvroOptions.parse({})).of(expand_text(SchemaText(text)))
    return parse(json.loads(text)), schema, convert


@lru_cache(maxsize=64)
def _plan_of_ends(text: str) -> ParsedSchema:
    """Return a plan that reads texts as bytes, which are as long and are never wrong."""
    return parse(_without_texts(json.loads(text)))


def _without_texts(schema: Any) -> Any:  # noqa: ANN401 - JSON
    if isinstance(schema, list):
        return [_without_texts(each) for each in schema]
    if isinstance(schema, dict):
        inside = ("type", "items", "values", "fields")
        kept = {key: value for key, value in schema.items() if key != "default"}
        return {key: _without_texts(value) if key in inside else value for key, value in kept.items()}
    return "bytes" if schema == "string" else schema


def connect_schema(text: str) -> Schema:
    """Return the Connect schema that an Avro schema stands for.

    Raises:
        DataError: It is no valid Avro schema, or Connect has nothing for it.
    """
    return _plans(text)[1]


def _broken(error: Exception, record: int) -> DataError:
    if isinstance(error, DataError):
        return error
    return DataError(f"It is no Avro file, or broken behind record {record}: {type(error).__name__} {error}")
