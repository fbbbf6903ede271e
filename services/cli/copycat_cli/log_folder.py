"""The folder into which `copycat up` has its programs write: the end of it, and what is added."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from copycat_cli.errors import NotFoundError
from copycat_cli.log_lines import Choice, LogLine, read_line

ENDING: Final = ".log"
#: What is read of the end of each log before anything is chosen.
TAIL_BYTES: Final = 32 * 1024 * 1024


@dataclass(slots=True)
class LogFolder:
    """Reads the logs of all programs, or of one; remembers how far."""

    folder: Path
    """The folder."""
    service: str | None = None
    """Only this program; None for all."""
    _read: dict[Path, int] = field(default_factory=dict)
    _half: dict[Path, bytes] = field(default_factory=dict)
    _times: dict[Path, str] = field(default_factory=dict)

    def files(self) -> list[Path]:
        """Return the logs of the wanted programs.

        Raises:
            NotFoundError: It does not exist.
        """
        found = sorted(self.folder.glob(f"*{ENDING}"))
        if not found:
            raise NotFoundError(
                f"There are no logs in {self.folder}: no `copycat up` has run with this data directory. "
                "Name another with --data-dir. Services that were started otherwise write to their standard "
                "error: see what started them, for example docker compose logs, kubectl logs or journalctl"
            )
        wanted = [file for file in found if self.service in {None, file.name.removesuffix(ENDING)}]
        if not wanted:
            names = ", ".join(file.name.removesuffix(ENDING) for file in found)
            raise NotFoundError(f"There is no log of {self.service}; there are those of {names}")
        return wanted

    def last(self, choice: Choice, count: int) -> list[LogLine]:
        """Return the last lines that are chosen, of all programs together, the oldest first."""
        lines = [line for line in self.added() if choice.takes(line)]
        return lines[-count:] if count else []

    def added(self) -> list[LogLine]:
        """Return the lines since the last call; at first, those there are. Half a line waits for its end."""
        lines = [line for file in self.files() for line in self._added_to(file)]
        return sorted(lines, key=lambda line: line.time)

    def _added_to(self, file: Path) -> Iterator[LogLine]:
        size = file.stat().st_size
        if size < self._read.get(file, 0):  # begun anew, since it had grown too large
            self._read[file], self._half[file] = 0, b""
        start = self._read.get(file, max(0, size - TAIL_BYTES))
        with file.open("rb") as log:
            log.seek(start)
            content = self._half.get(file, b"") + log.read()
            self._read[file] = log.tell()
        *lines, self._half[file] = content.split(b"\n")
        for text in lines:
            if text.strip():
                line = read_line(
                    file.name.removesuffix(ENDING), text.decode("utf-8", "replace"), self._times.get(file, "")
                )
                self._times[file] = line.time
                yield line
