"""A trace in one line: its error, and what caused it."""

from __future__ import annotations

import re
from typing import Final

_CAUSE: Final = "Caused by: "
_PACKAGES: Final = re.compile(r"^(\w+\.)+(?=\w+(:|$))")


def trace_line(trace: str) -> str:
    """Return the error of a trace (Java's first line, Python's last), and its last cause if it says more."""
    lines = trace.strip().splitlines() or [""]
    error = lines[-1] if lines[0].startswith("Traceback") else lines[0]
    causes = [line.removeprefix(_CAUSE) for line in lines if line.startswith(_CAUSE)]
    said = [_PACKAGES.sub("", each) for each in (error, *causes[-1:])]
    return "; caused by ".join(dict.fromkeys(said))  # an error that was raised anew is its own cause


def shortened(text: str, limit: int) -> str:
    """Return a text in one line of at most so many characters."""
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[: limit - 3]}..."
