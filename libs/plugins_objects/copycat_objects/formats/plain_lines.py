"""Values as they are, one a line: bytes (`.bin`) or text (`.txt`)."""

from __future__ import annotations

import os
from collections.abc import Sequence

from copycat_connect.data import ConnectValue, Schema
from copycat_connect.errors import DataError

from copycat_objects.formats.format import ByteSink
from copycat_objects.formats.json_lines import GzipSink, compressed

_EXTENSIONS = {"bytes": ".bin", "string": ".txt"}
_LINE_END = os.linesep.encode()


class PlainLines:
    """The format."""

    needs_schema = False

    def __init__(
        self,
        kind: str,
        *,
        gzip_level: int | None = None,
        extension: str | None = None,
        separator: bytes = _LINE_END,
    ) -> None:
        """Choose `bytes` or `string`, how files are compressed with gzip, and what is not as it usually is.

        Args:
            kind: What values are.
            gzip_level: Level of compression; None for none.
            extension: The end of names before that of compression.
            separator: What ends each value.
        """
        self._kind = kind
        self._gzip_level = gzip_level
        self._separator = separator
        self.extension = (extension or _EXTENSIONS[kind]) + ("" if gzip_level is None else ".gz")

    def writer(self, sink: ByteSink, schema: Schema | None) -> PlainLinesWriter:
        """Begin a file."""
        del schema
        return PlainLinesWriter(compressed(sink, self._gzip_level), self._kind, self._separator)


class PlainLinesWriter:
    """Writes each batch at once."""

    waiting = 0

    def __init__(self, sink: ByteSink, kind: str, separator: bytes) -> None:
        """Write to a sink."""
        self._sink = sink
        self._kind = kind
        self._separator = separator

    def write(self, values: Sequence[ConnectValue]) -> None:
        """Append lines."""
        if self._kind == "bytes":
            lines = [value if isinstance(value, bytes) else _no_bytes(value) for value in values]
        else:
            lines = [value.encode() if isinstance(value, str) else _no_text(value) for value in values]
        self._sink.write(self._separator.join([*lines, b""]))

    def finish(self) -> None:
        """End the compressed stream, where there is one."""
        if isinstance(self._sink, GzipSink):
            self._sink.finish()


def _no_bytes(value: ConnectValue) -> bytes:
    raise DataError(
        f"'format.class' bytes writes values of bytes, and this is a {type(value).__name__}: use "
        "ByteArrayConverter "
        "as 'value.converter', or another format"
    )


def _no_text(value: ConnectValue) -> bytes:
    raise DataError(
        f"'format.class' string writes values of text, and this is a {type(value).__name__}: use "
        "StringConverter "
        "as 'value.converter', or another format"
    )
