"""What the sink wrote: the numbers of each partition, from all files of its tasks."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tools.crash_matrix.counts import Sequence

NEWLINE: Final = b"\n"


class Lines:
    """Reads on in every file of a folder, whole lines only: one that is torn has no end."""

    def __init__(self, folder: Path, partitions: int) -> None:
        """Nothing is read yet."""
        self.sequences = [Sequence() for _ in range(partitions)]
        """What was written, by partition."""
        self._folder = folder
        self._read_to: dict[Path, int] = {}

    def read_on(self) -> None:
        """Read what was written since."""
        for path in self._folder.iterdir():
            with path.open("rb") as file:
                file.seek(self._read_to.get(path, 0))
                text = file.read()
            whole = text[: text.rfind(NEWLINE) + 1]
            self._read_to[path] = self._read_to.get(path, 0) + len(whole)
            for line in whole.splitlines():
                partition, number, *_ = line.split()
                self.sequences[int(partition)].take(int(number), created_ms=0)
