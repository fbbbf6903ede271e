"""What sinks wrote into files: numbers with their partition and the moment at which they were made."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from copycat_testkit.arrivals import NumberSequence, Tally

#: A kill may leave a piece of a line, which does not count.
_LINE: Final = re.compile(rb"^(\d+) (\d+) (\d{13})$", re.M)
#: Has the newest lines of every partition.
_TAIL_BYTES: Final = 1 << 15


class SinkFile:
    """The file of one sink. It is read anew for each count: under exactly once a restart cuts its end off."""

    def __init__(self, path: Path, partitions: int) -> None:
        """The sink makes it."""
        self.path = path
        self._partitions = partitions

    def sequences(self) -> Sequence[NumberSequence]:
        """Return what is in it, by partition."""
        found = [NumberSequence() for _ in range(self._partitions)]
        for number, partition, created_ms in self._lines():
            found[partition].take(number, created_ms)
        return found

    def tally(self) -> Tally:
        """Return what is lost and repeated in it."""
        return sum((each.tally for each in self.sequences()), Tally())

    def flows_since(self, moment: float) -> bool:
        """Tell whether every partition has a line that was made after a moment (`time.time()`)."""
        newest = dict.fromkeys(range(self._partitions), 0)
        for _, partition, created_ms in self._lines(_TAIL_BYTES):
            newest[partition] = max(newest[partition], created_ms)
        return all(created_ms > moment * 1000 for created_ms in newest.values())

    def _lines(self, last: int = 0) -> Iterator[tuple[int, int, int]]:
        """Yield the lines, or those in the last bytes."""
        if not self.path.exists():
            return
        with self.path.open("rb") as file:
            if last:
                file.seek(max(0, self.path.stat().st_size - last))
            text = file.read()
        for line in _LINE.finditer(text):
            number, partition, created_ms = map(int, line.groups())
            yield number, partition, created_ms
