"""Files of lines, one value a line: JSON, texts or bytes.

As JSON, a struct is an object with all its fields, without its schema.
"""

from __future__ import annotations

import gzip
import os
from collections.abc import Sequence
from typing import Final

from copycat_connect.data import ConnectValue, Schema
from copycat_connect.errors import DataError
from copycat_json.converter import JsonConverter

from copycat_objects.formats.format import ByteSink

_NULL: Final = b"null"
_EXTENSIONS = {"bytes": ".bin", "string": ".txt"}
_LINE_END = os.linesep.encode()


class JsonLines:
    """The format."""

    needs_schema = False

    def __init__(self, *, gzip_level: int | None = None, decimals: str = "BASE64") -> None:
        """Choose how files are compressed with gzip, None for not at all, and how decimals are written."""
        self._gzip_level = gzip_level
        self._decimals = decimals

    @property
    def extension(self) -> str:
        """The end of names."""
        return ".json" if self._gzip_level is None else ".json.gz"

    def writer(self, sink: ByteSink, schema: Schema | None) -> JsonLinesWriter:
        """Begin a file."""
        return JsonLinesWriter(compressed(sink, self._gzip_level), schema, self._decimals)


class JsonLinesWriter:
    """Writes each batch at once."""

    waiting = 0

    def __init__(self, sink: ByteSink, schema: Schema | None, decimals: str) -> None:
        """Write to a sink."""
        self._sink = sink
        self._schema = schema
        self._converter = JsonConverter()
        self._converter.configure({"schemas.enable": "false", "decimal.format": decimals})

    def write(self, values: Sequence[ConnectValue]) -> None:
        """Append lines."""
        lines = self._converter.from_connect_batch("", self._schema, list(values))
        self._sink.write(b"\n".join([*(_NULL if line is None else line for line in lines), b""]))

    def finish(self) -> None:
        """End the compressed stream, where there is one."""
        if isinstance(self._sink, GzipSink):
            self._sink.finish()


def compressed(sink: ByteSink, gzip_level: int | None) -> ByteSink:
    """Return a sink that compresses on the way to another, or that other one where there is no level."""
    return sink if gzip_level is None else GzipSink(sink, gzip_level)


class GzipSink:
    """Compresses on the way to a sink."""

    def __init__(self, sink: ByteSink, level: int) -> None:
        """Write to a sink; the stream names no file and no time, so equal records give equal files."""
        self._stream = gzip.GzipFile("", "wb", compresslevel=level, fileobj=_Writable(sink), mtime=0)

    def write(self, content: bytes | memoryview) -> None:
        """Compress bytes."""
        self._stream.write(content)

    def finish(self) -> None:
        """Write the end of the stream."""
        self._stream.close()


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


class _Writable:
    """A sink as the standard library wants files."""

    def __init__(self, sink: ByteSink) -> None:
        self._sink = sink

    def write(self, content: bytes) -> int:
        self._sink.write(content)
        return len(content)

    def flush(self) -> None:
        """Do nothing: the sink itself decides."""


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
