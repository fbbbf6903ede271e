"""Contents of files over HTTP, piece by piece: answers that are read as a file, and parts that are sent."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import BinaryIO, Protocol, cast

from copycat_connect.errors import ConnectError

from copycat_objects.stores.errors import StoreAwayError

_BUFFER_BYTES = 1 << 20


class Body(Protocol):
    """What gives the bytes, such as an HTTP client's answer."""

    def read(self, amount: int, /) -> bytes | None:
        """Return up to so many bytes, none at the end."""

    def close(self) -> None:
        """Give the connection back."""


def answer_file(body: Body, failure: Callable[[Exception], ConnectError]) -> BinaryIO:
    """Return a buffered file over a body; `failure` says what an exception of it means."""
    return cast("BinaryIO", io.BufferedReader(_Reader(body, failure), _BUFFER_BYTES))


def empty_file() -> BinaryIO:
    """Return a file without content."""
    return io.BytesIO()


class Parts:
    """Hands on parts of one size; what is left at the end is taken with `rest`."""

    def __init__(self, part_size: int, send: Callable[[bytes], None]) -> None:
        """Hand each full part to `send`."""
        self._part_size = part_size
        self._send = send
        self._gathered = bytearray()
        self._lost = False
        self.size = 0
        """Bytes that came in."""

    def write(self, content: bytes | memoryview) -> None:
        """Gather bytes, and send the parts that are full."""
        self._gathered += content
        self.size += memoryview(content).nbytes
        while len(self._gathered) >= self._part_size:
            part = bytes(memoryview(self._gathered)[: self._part_size])
            del self._gathered[: self._part_size]
            self._lost = True
            self._send(part)
            self._lost = False

    def rest(self) -> bytes:
        """Remove what was not sent.

        Raises:
            StoreAwayError: A part could not be sent, so that the file can never be whole.
        """
        if self._lost:
            raise StoreAwayError("A part of the file could not be sent before: write the file again")
        left, self._gathered = bytes(self._gathered), bytearray()
        return left


class _Reader(io.RawIOBase):
    """Reads a body; what fails on the way becomes an error of the store."""

    def __init__(self, body: Body, failure: Callable[[Exception], ConnectError]) -> None:
        self._body = body
        self._failure = failure

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]  # what io calls it with
        view = memoryview(buffer)
        try:
            found = self._body.read(len(view)) or b""
        except Exception as error:
            raise self._failure(error) from error
        view[: len(found)] = found
        return len(found)

    def close(self) -> None:
        if not self.closed:
            self._body.close()
        super().close()
