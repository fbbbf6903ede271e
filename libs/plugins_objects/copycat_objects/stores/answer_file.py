"""What is read piece by piece, as the body of an HTTP answer, as a file."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import BinaryIO, Protocol, cast

from copycat_connect.errors import ConnectError

_BUFFER_BYTES = 1 << 20


class Body(Protocol):
    """What gives the bytes, such as an HTTP client's answer."""

    def read(self, amount: int, /) -> bytes | None:
        """Return up to so many bytes, none at the end."""

    def close(self) -> None:
        """Give the connection back."""


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


def answer_file(body: Body, failure: Callable[[Exception], ConnectError]) -> BinaryIO:
    """Return a buffered file over a body; `failure` says what an exception of it means."""
    return cast("BinaryIO", io.BufferedReader(_Reader(body, failure), _BUFFER_BYTES))


def empty_file() -> BinaryIO:
    """Return a file without content."""
    return io.BytesIO()
