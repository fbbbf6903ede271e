"""Lines of files: cuts a stream of bytes into lines, knows where each ends, and counts those of a move.

Line ends are LF, CR LF and a lone CR. A line counts as ended only when what follows its CR is known, so that
the position after it is right whatever follows.
"""

from __future__ import annotations

import stat
from itertools import accumulate
from pathlib import Path
from typing import BinaryIO, Final

from copycat_connect.data.java import decode_utf8
from copycat_connect.plugin import OffsetEffect

#: A longer way is given in bytes: to read it could take longer than whoever asks would wait.
MAX_COUNTED_BYTES: Final = 256 << 20
_CHUNK_BYTES: Final = 1 << 20


class LineBuffer:
    """The lines read and not yet taken."""

    def __init__(self, position: int = 0, *, utf8: bool = True) -> None:
        """Begin at a position; without `utf8` lines are left as the bytes they are."""
        self.position = position
        """Bytes before the first line not taken."""
        self._utf8 = utf8
        self._lines: list[bytes] = []
        self._taken = 0
        self._lengths: list[int] | None = None
        self._unended: list[bytes] = []

    def __bool__(self) -> bool:
        return self._taken < len(self._lines)

    def feed(self, chunk: bytes) -> None:
        """Append bytes; every line taken out before must have been taken."""
        cut = _end_of_lines(chunk, after_carriage_return=self._ends_in_carriage_return())
        if cut is None:
            self._unended.append(chunk)
            return
        whole = b"".join((*self._unended, chunk[:cut])) if self._unended else chunk[:cut]
        rest = chunk[cut:]
        self._unended = [rest] if rest else []
        self._taken = 0
        # Without CR every line end is one byte, and lengths follow from the lines alone.
        self._lengths = _lengths(whole) if b"\r" in whole else None
        self._lines = whole.splitlines()
        if self._utf8 and not whole.isascii():
            self._replace_malformed(whole)

    def take(self, limit: int | None = None) -> tuple[list[bytes], list[int] | None]:
        """Remove up to that many lines, all of them without a limit, and move the position behind them.

        Returns:
            The lines without their ends, valid UTF-8 unless bytes were asked for; and how many bytes each
            took up, or None when that is its length and one more.
        """
        first, last = self._taken, len(self._lines)
        if limit is not None:
            last = min(first + limit, last)
        lines = self._lines[first:last] if last - first < len(self._lines) else self._lines
        self._taken = last
        if self._lengths is None:
            self.position += sum(map(len, lines)) + len(lines)
            return lines, None
        lengths = self._lengths[first:last]
        self.position += sum(lengths)
        return lines, lengths

    def _ends_in_carriage_return(self) -> bool:
        return bool(self._unended) and self._unended[-1].endswith(b"\r")

    def _replace_malformed(self, whole: bytes) -> None:
        try:
            whole.decode("utf-8")
        except UnicodeDecodeError:
            if self._lengths is None:
                self._lengths = [len(line) + 1 for line in self._lines]
            self._lines = [decode_utf8(line).encode() for line in self._lines]


def positions(start: int, lines: list[bytes], lengths: list[int] | None) -> list[int]:
    """Return the position after each of the lines that `LineBuffer.take` gave."""
    each = lengths if lengths is not None else [len(line) + 1 for line in lines]
    return list(accumulate(each, initial=start))[1:]


def effect_of(file: str, before: int, after: int) -> OffsetEffect | None:
    """Return what a move does to a file that is here; None for what is no file here.

    The file is looked at as it is now: lines that were replaced since count as the new ones.
    """
    low, high = min(before, after), max(before, after)
    try:
        path = Path(file)
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            return None
        with path.open("rb") as opened:
            high = min(high, found.st_size)
            if high - low > MAX_COUNTED_BYTES:
                return _effect(high - low, "bytes", back=after < before)
            return _effect(_line_ends(opened, low, high), "lines", back=after < before)
    except OSError:
        return None


def _end_of_lines(chunk: bytes, *, after_carriage_return: bool) -> int | None:
    """Return where the last line that has ended ends in the chunk; None when no line has."""
    feed = chunk.rfind(b"\n") + 1
    carriage = chunk.rfind(b"\r", feed) + 1
    if carriage == len(chunk):
        # What follows decides whether this CR ends the line alone.
        carriage = chunk.rfind(b"\r", feed, carriage - 1) + 1
    end = max(feed, carriage)
    if end == 0 and not (after_carriage_return and chunk):
        return None
    return end


def _lengths(whole: bytes) -> list[int]:
    return [len(line) for line in whole.splitlines(keepends=True)]


def _effect(count: int, unit: str, *, back: bool) -> OffsetEffect:
    return OffsetEffect(count, 0, unit) if back else OffsetEffect(0, count, unit)


def _line_ends(opened: BinaryIO, low: int, high: int) -> int:
    """Count the line ends from one position to another: LF, CR LF, and CR alone."""
    opened.seek(low)
    count, last, left = 0, b"", high - low
    while left > 0 and (chunk := opened.read(min(_CHUNK_BYTES, left))):
        count += chunk.count(b"\n") + chunk.count(b"\r") - chunk.count(b"\r\n")
        count -= last == b"\r" and chunk.startswith(b"\n")
        last, left = chunk[-1:], left - len(chunk)
    return count
