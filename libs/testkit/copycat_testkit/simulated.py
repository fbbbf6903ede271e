"""Tests of waiting that do not wait: the clock of their event loop jumps to the next timer."""

from __future__ import annotations

import asyncio
import functools
import selectors
from collections.abc import Callable, Coroutine
from typing import Any, ParamSpec

P = ParamSpec("P")


class SimulatedLoop(asyncio.SelectorEventLoop):
    """Has a clock of its own: it stands while anything is ready, and jumps where all would wait for a timer.

    Only for what happens in this loop: while a thread or another process works, the clock jumps, too.
    """

    def __init__(self) -> None:
        """Begin at an hour, for some compare with moments before the beginning."""
        self._simulated = 3600.0
        super().__init__(_Jumping(self.advance))

    def time(self) -> float:
        """Return the seconds of the simulated clock."""
        return self._simulated

    def advance(self, seconds: float) -> None:
        """Let time pass, as where a call blocks the loop."""
        self._simulated += seconds


class _Jumping(selectors.DefaultSelector):
    def __init__(self, advance: Callable[[float], None]) -> None:
        super().__init__()
        self._advance = advance

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            return super().select(None)
        found = super().select(0)
        if not found and timeout > 0:
            self._advance(timeout)
        return found


def simulated(test: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    """Run a coroutine function as a test in a simulated loop; its deadlines count simulated seconds."""

    @functools.wraps(test)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        with asyncio.Runner(loop_factory=SimulatedLoop) as runner:
            runner.run(test(*args, **kwargs))

    return run


def let_pass(seconds: float) -> None:
    """Let time pass on the clock of the simulated loop that runs."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, SimulatedLoop), "only in a test that is `simulated`"
    loop.advance(seconds)
