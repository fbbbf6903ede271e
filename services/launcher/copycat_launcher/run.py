"""The life of a command that supervises: start, say so, keep until asked to stop, drain."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable

from copycat_connect.first import unless

from copycat_launcher.console import say, waiting
from copycat_launcher.errors import HurriedError
from copycat_launcher.supervisor import Supervisor


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
