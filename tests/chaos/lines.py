"""Numbered lines, written while a test goes on, and what became of them."""

from __future__ import annotations

import threading
from pathlib import Path


class Writer:
    """Appends numbered lines to files until stopped."""

    def __init__(self, *paths: Path, pause: float = 0.005, at_once: int = 20) -> None:
        self._paths = paths
        self._pause = pause
        self._at_once = at_once
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._write)
        self.lines = 0

    def expected(self) -> list[str]:
        """Return every line, in order."""
        return [f"line {number}" for number in range(self.lines)]

    def _write(self) -> None:
        while not self._done.wait(self._pause):
            numbers = range(self.lines, self.lines + self._at_once)
            for path in self._paths:
                with path.open("a") as out:
                    out.writelines(f"line {number}\n" for number in numbers)
            self.lines += self._at_once

    def __enter__(self) -> Writer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()
