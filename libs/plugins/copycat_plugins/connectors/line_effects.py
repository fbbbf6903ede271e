"""What a move of the position in a file would do, counted in its lines."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import BinaryIO, Final

from copycat_connect.plugin import OffsetEffect

#: A longer way is given in bytes: to read it could take longer than whoever asks would wait.
MAX_COUNTED_BYTES: Final = 256 << 20
_CHUNK_BYTES: Final = 1 << 20


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
