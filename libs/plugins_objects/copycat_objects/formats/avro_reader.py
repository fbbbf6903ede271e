"""Avro container files, read block by block."""

from __future__ import annotations

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

from copycat_objects.formats.reader import Chunk, Place, counted

if TYPE_CHECKING:
    from fastavro.types import Schema as ParsedSchema

#: What fastavro raises for bytes that are no Avro.
_MISFITS: Final = (
    AttributeError, EOFError, IndexError, KeyError, MemoryError, OverflowError, RecursionError, StopIteration,
    TypeError, UnicodeDecodeError, ValueError,
)  # fmt: skip


class _Block(Protocol):
    """A block as fastavro gives it, decompressed."""

    num_records: int
    bytes_: IO[bytes]


class AvroReader:
    """Reads records from a number on; whole blocks before it are not decoded."""

    def __init__(self, file: BinaryIO, start: Place) -> None:
        """Read the header of a file that was opened at its beginning; with it this closes the file.

        Raises:
            DataError: It is no Avro file, or Connect has nothing for its schema.
        """
        self._file = file
        self._record = 0
        try:
            blocks = block_reader(file)
            self._plan, self.schema, self._convert = _plans(json.dumps(blocks.writer_schema))
        except _MISFITS as error:
            raise _broken(error, 0) from error
        self._values = self._all(iter(blocks), start.record)
        self._ahead = next(self._values, None)
        self._record = start.record

    def read(self, limit: int) -> Chunk:
        """Return the next records; a chunk ends where a block does. See the port."""
        first = self._record
        values: list[ConnectValue] = []
        while self._ahead is not None and len(values) < limit:
            room = limit - len(values)
            values += self._ahead[:room]
            self._ahead = self._ahead[room:] or next(self._values, None)
            self._record = first + len(values)
        return counted(values, self.schema, first, is_last=self._ahead is None)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _all(self, blocks: Iterator[Any], first: int) -> Iterator[list[ConnectValue]]:
        """Yield the records of each block, from the first one wanted on."""
        record = 0
        while True:
            try:
                block = next(blocks, None)
                if block is None:
                    return
                found = self._decoded(block) if record + block.num_records > first else []
            except _MISFITS as error:
                raise _broken(error, record) from error
            if kept := found[max(first - record, 0) :]:
                yield kept
            record += block.num_records

    def _decoded(self, block: _Block) -> list[ConnectValue]:
        content, plan = block.bytes_, self._plan
        values = [
            schemaless_reader(content, plan, None, return_named_type=True) for _ in range(block.num_records)
        ]
        convert = self._convert
        return values if convert is None else [convert(value) for value in values]


@lru_cache(maxsize=64)
def _plans(text: str) -> tuple[ParsedSchema, Schema, ToAvro | None]:
    schema, convert = ConnectTypes(AvroOptions.parse({})).of(expand_text(SchemaText(text)))
    return parse(json.loads(text)), schema, convert


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
