"""Cuts the bytes of a log into records: lines, or lines that belong together."""

from __future__ import annotations

from dataclasses import dataclass

from copycat_connect.config.user_pattern import UserPattern

from copycat_plugins.connectors.lines import LineBuffer
from copycat_plugins.connectors.log_source.settings import LogSourceSettings


@dataclass(slots=True)
class CutRecords:
    """Records in their order."""

    values: list[bytes]
    """Their text without the last line end; valid UTF-8 where that is the encoding."""
    lengths: list[int] | None
    """How many bytes each took up; None when that is its length and one more."""
    size: int
    """How many bytes all of them took up."""


class Cutter:
    """Cuts by the settings of a task; keeps nothing between two calls."""

    def __init__(self, settings: LogSourceSettings) -> None:
        self._utf8 = not settings.encoding
        self._encoding = settings.encoding or "utf-8"
        self._start: UserPattern | None = settings.record_start
        self._max_lines = settings.record_max_lines
        self._max_bytes = settings.record_max_bytes

    @property
    def window(self) -> int:
        """How many bytes at least must be seen at once."""
        return self._max_bytes + 2

    def cut(self, text: bytes, *, full: bool, last: bool, quiet: bool) -> CutRecords:
        """Return the records that are complete.

        Args:
            text: The bytes from the end of the record before.
            full: There may be more bytes than could be read at once.
            last: Nothing will follow, so that an unended line is complete.
            quiet: Nothing has followed for so long that a record of several lines is complete.
        """
        lines = LineBuffer(utf8=self._utf8)
        lines.feed(text)
        values, lengths = lines.take()
        size = lines.position
        if (
            lengths is None
            and len(text) > self._max_bytes
            and max(map(len, values), default=0) > self._max_bytes
        ):
            lengths = [len(line) + 1 for line in values]
        if lengths is not None and max(map(len, values), default=0) > self._max_bytes:
            values, lengths = self._in_pieces(values, lengths)
        rest = len(text) - size
        if rest and (last or rest >= self._max_bytes):
            values, lengths, size = self._with_unended(text, values, lengths, size, last=last)
        if self._start is not None and values:
            return self._together(self._start, values, lengths, ended=last or quiet, forced=full)
        return CutRecords(values, lengths, size)

    def _with_unended(
        self, text: bytes, values: list[bytes], lengths: list[int] | None, size: int, *, last: bool
    ) -> tuple[list[bytes], list[int], int]:
        values = list(values)
        lengths = [len(line) + 1 for line in values] if lengths is None else list(lengths)
        while (rest := len(text) - size) and (last or rest >= self._max_bytes):
            piece = text[size : size + self._piece(text[size : size + self._max_bytes])]
            whole = last and size + len(piece) == len(text)
            values.append(self._valid(piece.removesuffix(b"\r") if whole else piece))
            lengths.append(len(piece))
            size += len(piece)
        return values, lengths, size

    def _in_pieces(self, values: list[bytes], lengths: list[int]) -> tuple[list[bytes], list[int]]:
        pieces: list[bytes] = []
        sizes: list[int] = []
        for value, length in zip(values, lengths, strict=True):
            rest, left = value, length
            while len(rest) > self._max_bytes:
                cut = self._piece(rest[: self._max_bytes])
                pieces.append(rest[:cut])
                sizes.append(cut)
                rest, left = rest[cut:], left - cut
            pieces.append(rest)
            sizes.append(left)
        return pieces, sizes

    def _piece(self, text: bytes) -> int:
        """Return where to cut off a piece, so that no character of UTF-8 is divided."""
        end = len(text)
        if not self._utf8 or end < self._max_bytes:
            return end
        for back in range(1, 4):
            lead = text[end - back]
            if lead >= 0xC0:
                width = 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4
                return end - back if width > back else end
            if lead < 0x80:
                break
        return end

    def _valid(self, text: bytes) -> bytes:
        return text.decode("utf-8", "replace").encode() if self._utf8 else text

    def _together(
        self,
        start: UserPattern,
        values: list[bytes],
        lengths: list[int] | None,
        *,
        ended: bool,
        forced: bool,
    ) -> CutRecords:
        """Put lines together; the last record is complete only when it has `ended`."""
        sizes = [len(line) + 1 for line in values] if lengths is None else lengths
        records: list[bytes] = []
        ends: list[int] = []
        group: list[bytes] = []
        size = 0
        for line, length in zip(values, sizes, strict=True):
            begins = start.match(line.decode(self._encoding, "replace")) is not None
            too_large = size + length > self._max_bytes or len(group) >= self._max_lines
            if group and (begins or too_large):
                records.append(b"\n".join(group))
                ends.append(size)
                group, size = [], 0
            group.append(line)
            size += length
        if ended or (forced and not records):
            records.append(b"\n".join(group))
            ends.append(size)
        return CutRecords(records, ends, sum(ends))
