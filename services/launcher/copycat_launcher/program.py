"""What the supervisor needs of a program it starts: a role in a child process, the broker, a fake."""

from __future__ import annotations

import signal
from typing import Final, Protocol

from copycat_connect.trace_line import shortened

#: How a process ended that was not killed: it may have said why.
_BY_ITSELF: Final = "code "
MAX_WORDS: Final = 1000


def how_it_ended(code: int) -> str:
    """Return for people how a process with this exit code ended."""
    return f"killed by {signal.Signals(-code).name}" if code < 0 else f"{_BY_ITSELF}{code}"


def why_it_ended(program: Program, how: str) -> str:
    """Return what a program that ended by itself said last, to follow how it ended; else nothing."""
    words = program.last_words() if how.startswith(_BY_ITSELF) else ""
    return f": {shortened(words, MAX_WORDS)}" if words else ""


class Program(Protocol):
    """One program that can be started again and again."""

    @property
    def name(self) -> str:
        """How people call it."""

    @property
    def log(self) -> str:
        """Where to read what it wrote, for messages."""

    async def start(self) -> None:
        """Start it, without waiting until it is ready.

        Raises:
            CopycatError: It cannot be started.
        """

    async def ready(self) -> None:
        """Return once it is usable; the caller bounds the wait."""

    async def ended(self) -> str:
        """Wait until it ends by itself and return how, e.g. `code 1`; nothing of it is left then."""

    async def hung(self) -> None:
        """Return once it runs and has answered nothing for too long, though it had answered before."""

    async def stop(self) -> None:
        """Drain and end it; nothing happens when it does not run."""

    async def kill(self) -> None:
        """End it by force now; nothing happens when it does not run."""

    def last_words(self) -> str:
        """Return the line that best says why it ended, or an empty one."""
