"""Bytes of a file gathered into parts: stores over HTTP take few large pieces better than many small ones."""

from __future__ import annotations

from collections.abc import Callable

from copycat_objects.stores.errors import StoreAwayError


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
