"""Avro container files, with the schema that the Avro converter makes of Connect's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any, Final

from copycat_avro.options import AvroOptions
from copycat_avro.parsing import parse
from copycat_avro.to_avro import AvroTypes
from copycat_connect.data import ConnectValue, Schema
from copycat_connect.errors import DataError
from fastavro import parse_schema, schemaless_writer
from fastavro.write import Writer

from copycat_objects.formats.format import ByteSink

_BLOCK_BYTES: Final = 1 << 16
#: What fastavro raises for values that do not fit the schema.
_MISFITS: Final = (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError)


class AvroFiles:
    """The format."""

    extension = ".avro"
    needs_schema = True

    def __init__(self, codec: str) -> None:
        """Choose a codec of Avro's."""
        self._codec = codec

    def writer(self, sink: ByteSink, schema: Schema | None) -> AvroWriter:
        """Begin a file."""
        return AvroWriter(sink, schema, self._codec)


class AvroWriter:
    """Keeps one block in memory."""

    def __init__(self, sink: ByteSink, schema: Schema | None, codec: str) -> None:
        """Write to a sink."""
        if schema is None:
            raise DataError(
                "Avro files need values with a schema: use a converter that gives one, or 'format.class' json"
            )
        found = AvroTypes(AvroOptions.parse({})).of(schema)
        self._sink = sink
        self._convert = found.write
        self._plan = parse(found.json)
        self._block = _Block()
        self._file = BytesIO()
        # The head has logical types, for whoever reads the file; the plan that writes is without them.
        self._container: Any = Writer(self._file, parse_schema(found.json), codec)

    @property
    def waiting(self) -> int:
        """Bytes of the block that is not full yet."""
        return self._block.bytes_.tell()

    def write(self, values: Sequence[ConnectValue]) -> None:
        """Append values."""
        convert, plan, block = self._convert, self._plan, self._block.bytes_
        start = block.tell()
        try:
            for value in values:
                schemaless_writer(block, plan, value if convert is None else convert(value))
        except _MISFITS as error:
            block.seek(start)
            block.truncate()
            raise DataError(f"A value does not fit its schema: {type(error).__name__} {error}") from error
        self._block.num_records += len(values)
        if block.tell() >= _BLOCK_BYTES:
            self._end_block()

    def finish(self) -> None:
        """Write the block that is not full."""
        self._end_block()

    def _end_block(self) -> None:
        if self._block.num_records:
            self._container.write_block(self._block)
            self._block = _Block()
        self._container.flush()
        self._sink.write(self._file.getvalue())
        self._file.seek(0)
        self._file.truncate()


@dataclass(slots=True)
class _Block:
    """A block as fastavro takes it, whole before it is written: a value that fails leaves no trace."""

    num_records: int = 0
    bytes_: BytesIO = field(default_factory=BytesIO)
