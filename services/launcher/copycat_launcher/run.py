"""The life of a command that supervises: start, say so, run until a signal, drain; and the lines it says."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from copycat_connect.first import unless
from rich.console import Console
from rich.markup import escape
from rich.status import Status

from copycat_launcher.errors import HurriedError
from copycat_launcher.supervisor import Supervisor


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


class _Waiting:
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
def waiting(verb: str, names: list[str]) -> Iterator[_Waiting]:
    """Show what is awaited, on a terminal only."""
    names = list(names)
    with Console(stderr=True).status(_line(verb, names)) as status:
        yield _Waiting(status, verb, names)


def _line(verb: str, names: list[str]) -> str:
    return escape(f"{verb} {', '.join(names)}")


class Signals:
    """SIGINT, SIGTERM and SIGHUP: the first asks to drain, the second to end at once."""

    def __init__(self) -> None:
        """Handle the signals in the running loop from now on."""
        self.drain = asyncio.Event()
        self.hurry = asyncio.Event()
        loop = asyncio.get_running_loop()
        for name in (signal.SIGINT, signal.SIGTERM):  # scripts start what they start with & without SIGINT
            loop.add_signal_handler(name, self._came)
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # nohup means it
            loop.add_signal_handler(signal.SIGHUP, self._came)

    def _came(self) -> None:
        (self.hurry if self.drain.is_set() else self.drain).set()


async def run(supervisor: Supervisor, names: list[str], ready: Callable[[], None], signals: Signals) -> None:
    """Run until asked to stop; whatever happens, nothing is left running.

    Raises:
        CopycatError: Something did not start, cannot be started again, or was not given the time to drain.
    """
    drained = False
    try:
        with waiting("Starting", names) as line:
            began = await unless(supervisor.start(line.done), signals.drain)
        if began:
            supervisor.keep()
            ready()
            await unless(supervisor.crashed(), signals.drain)
    finally:
        if signals.drain.is_set():
            say("Stopping; press Ctrl-C again to stop without draining")
        with waiting("Stopping", names) as line:
            drained = await unless(supervisor.stop(line.done), signals.hurry)
        if not drained:
            await supervisor.kill()
    if not drained:
        raise HurriedError
