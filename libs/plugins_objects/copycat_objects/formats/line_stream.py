"""The lines of a file, with the bytes each takes up."""

from __future__ import annotations

from itertools import accumulate
from typing import BinaryIO, Final

from copycat_connect.errors import DataError

_CHUNK_BYTES: Final = 1 << 20
#: A line that is longer is no line: the file is of another format.
_LONGEST_BYTES: Final = 64 << 20


class LineStream:
    """Cuts a file at its LF; a last line may lack one. It reads ahead and so knows where the end is."""

    def __init__(self, file: BinaryIO, position: int = 0) -> None:
        """Read a file that was opened at a position; with it this closes the file."""
        self._file = file
        self.position = position
        """Bytes before the first line that was not taken."""
        self._lines: list[bytes] = []
        self._taken = 0
        self._rest = b""
        self._read_all = False
        self._failure: DataError | None = None

    @property
    def is_at_end(self) -> bool:
        """True when there is no further line."""
        return self._taken == len(self._lines) and not self._fill() and self._failure is None

    def take(self, limit: int) -> list[bytes]:
        """Return up to so many lines without their LF, none at the end.

        Raises:
            DataError: The next line is longer than a record can be, or what is compressed is broken.
        """
        if self._taken == len(self._lines) and not self._fill():
            if self._failure is not None:
                raise self._failure
            return []
        first, last = self._taken, min(self._taken + limit, len(self._lines))
        self._taken = last
        lines = self._lines[first:last]
        self.position += sum(map(len, lines)) + len(lines)
        if self._read_all:
            self.position -= 1  # the last line has no LF: others were taken before the end was seen
        return lines

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _fill(self) -> bool:
        while not self._read_all and self._failure is None:
            try:
                chunk = self._file.read(_CHUNK_BYTES)
            except DataError as error:
                self._failure = error
                return False
            if not chunk:
                self._read_all = True
                self._lines, self._rest, self._taken = [self._rest] if self._rest else [], b"", 0
                return bool(self._lines)
            lines = (self._rest + chunk).split(b"\n")
            self._rest = lines.pop()
            if len(self._rest) > _LONGEST_BYTES:
                message = f"A line behind byte {self.position} has more than {_LONGEST_BYTES >> 20} MiB"
                self._failure = DataError(message)
            if lines:
                self._lines, self._taken = lines, 0
                return True
        return False


def positions_after(start: int, lines: list[bytes], end: int) -> list[int]:
    """Return the position after each line of a take that began at `start` and ended at `end`."""
    found = list(accumulate((len(line) + 1 for line in lines), initial=start))[1:]
    return [*found[:-1], end] if found else []
