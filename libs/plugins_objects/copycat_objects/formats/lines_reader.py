"""Files of lines: JSON, text, or bytes, one value a line."""

from __future__ import annotations

import codecs
import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial

from copycat_connect.data import BYTES_SCHEMA, STRING_SCHEMA, ConnectValue, Schema
from copycat_connect.data.java import decode_utf8
from copycat_connect.errors import DataError
from copycat_json.decoding import (
    NotStrictError,
    read,
    read_batch_strictly,
    read_strictly,
)

from copycat_objects.formats.line_stream import LineStream, positions_after
from copycat_objects.formats.reader import START, Chunk, RecordPlace

#: Makes values of lines, the first one with that number; also returns why some cannot be read, by index.
Parse = Callable[[Sequence[bytes], int], tuple[list[ConnectValue], dict[int, DataError]]]


class LinesReader:
    """Reads lines from a byte, or from a number of lines on."""

    def __init__(
        self,
        lines: LineStream,
        parse: Parse,
        schema: Schema | None,
        start: RecordPlace,
        *,
        utf8: bool = False,
    ) -> None:
        """Read lines.

        Args:
            lines: Opened at the start's position, where it has one; else at the beginning of the file.
            parse: Makes values of lines.
            schema: The schema of every value.
            start: Where to begin.
            utf8: Whether values are texts as bytes.
        """
        self._lines = lines
        self._parse = parse
        self._schema = schema
        self._utf8 = utf8
        self._record = start.record
        self._keeps_position = start.position is not None
        self._to_skip = 0 if start.position or start == START else start.record

    def read(self, limit: int) -> Chunk:
        """Return the next lines; see the port."""
        while self._to_skip and (skipped := self._lines.take(min(self._to_skip, limit))):
            self._to_skip -= len(skipped)
        first, start = self._record, self._lines.position
        lines = self._lines.take(limit)
        self._record += len(lines)
        end = self._lines.position
        values, unreadable = self._parse(lines, first)
        return Chunk(
            values,
            self._schema,
            self._place(self._record, end),
            self._lines.is_at_end,
            lambda: self._places(lines, first, start, end),
            utf8=self._utf8,
            unreadable=unreadable,
        )

    def close(self) -> None:
        """Close the file."""
        self._lines.close()

    def _place(self, record: int, position: int) -> RecordPlace:
        return RecordPlace(record, position if self._keeps_position else None)

    def _places(self, lines: list[bytes], first: int, start: int, end: int) -> list[RecordPlace]:
        after = positions_after(start, lines, end)
        return [
            self._place(record, position)
            for record, position, line in zip(
                range(first + 1, first + 1 + len(lines)), after, lines, strict=True
            )
            if not self._is_dropped(line)
        ]

    def _is_dropped(self, line: bytes) -> bool:
        return self._schema is None and not line.strip()


def json_lines(lines: LineStream, start: RecordPlace, encoding: str) -> LinesReader:
    """Return a reader of JSON values without a schema; blank lines are skipped."""
    parse = _parse_json if _is_utf8(encoding) else partial(_parse_encoded_json, encoding)
    return LinesReader(lines, parse, None, start)


def text_lines(lines: LineStream, start: RecordPlace, encoding: str) -> LinesReader:
    """Return a reader of texts; a CR before the LF is no part of them."""
    parse = _parse_text if _is_utf8(encoding) else partial(_parse_encoded_text, encoding)
    return LinesReader(lines, parse, STRING_SCHEMA, start, utf8=True)


def byte_lines(lines: LineStream, start: RecordPlace) -> LinesReader:
    """Return a reader of lines as they are."""
    return LinesReader(lines, lambda found, _: (list(found), {}), BYTES_SCHEMA, start)


def _is_utf8(encoding: str) -> bool:
    return codecs.lookup(encoding).name == "utf-8"


def _parse_json(lines: Sequence[bytes], first: int) -> tuple[list[ConnectValue], dict[int, DataError]]:
    with suppress(NotStrictError):
        return read_batch_strictly(lines), {}
    return _parse_singly(lines, first, _json)


def _parse_encoded_json(
    encoding: str, lines: Sequence[bytes], first: int
) -> tuple[list[ConnectValue], dict[int, DataError]]:
    return _parse_singly(lines, first, lambda line: _json(line.decode(encoding).encode()))


def _parse_singly(
    lines: Sequence[bytes], first: int, parse: Callable[[bytes], ConnectValue]
) -> tuple[list[ConnectValue], dict[int, DataError]]:
    values: list[ConnectValue] = []
    unreadable: dict[int, DataError] = {}
    for number, line in enumerate(lines, first + 1):
        if line.strip():
            try:
                values.append(parse(line))
            except (ValueError, RecursionError, DataError) as error:
                unreadable[len(values)] = found = DataError(f"Line {number} is no JSON: {error}")
                found.__cause__ = error
                values.append(line)
    return values, unreadable


def _json(line: bytes) -> ConnectValue:
    """Read a line; one with numbers beyond 64 bits as the JSON converter does, which ignores what follows."""
    with suppress(NotStrictError):
        return read_strictly(line)
    json.loads(line)
    return read(line)


def _parse_text(lines: Sequence[bytes], _: int) -> tuple[list[ConnectValue], dict[int, DataError]]:
    found = [line.removesuffix(b"\r") for line in lines]
    try:
        b"\n".join(found).decode()
    except UnicodeDecodeError:
        return [decode_utf8(line).encode() for line in found], {}
    return list(found), {}


def _parse_encoded_text(
    encoding: str, lines: Sequence[bytes], _: int
) -> tuple[list[ConnectValue], dict[int, DataError]]:
    return [line.removesuffix(b"\r").decode(encoding, "replace").encode() for line in lines], {}
