"""What people see: plain lines that scripts can wait for, and a moving line while something starts."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from rich.console import Console
from rich.markup import escape
from rich.status import Status


def say(line: str) -> None:
    """Print one line at once; a reader that went away is no reason to stop."""
    with suppress(OSError, ValueError):
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()


def warn(line: str) -> None:
    """Print a warning on stderr, beside what scripts read."""
    with suppress(OSError, ValueError):
        sys.stderr.write(f"copycat: warning: {line}\n")
        sys.stderr.flush()


class Waiting:
    """The moving line: what is awaited still."""

    def __init__(self, status: Status, verb: str, names: list[str]) -> None:
        self._status = status
        self._verb = verb
        self._names = names

    def done(self, name: str) -> None:
        """Remove a name from the line."""
        self._names.remove(name)
        self._status.update(_line(self._verb, self._names))


@contextmanager
def waiting(verb: str, names: list[str]) -> Iterator[Waiting]:
    """Show what is awaited, on a terminal only."""
    names = list(names)
    with Console(stderr=True).status(_line(verb, names)) as status:
        yield Waiting(status, verb, names)


def _line(verb: str, names: list[str]) -> str:
    return escape(f"{verb} {', '.join(names)}")
