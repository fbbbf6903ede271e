"""Notice a program that hangs: its process lives and listens, and answers nobody any more."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable
from enum import Enum, auto
from typing import Final

from copycat_connect.beats import until_beat

#: Between two questions; at most so long after an answer.
PAUSE_SECONDS: Final = 2.0
#: The longest wait for one answer. A machine that stands still costs one question, however long it did.
MAX_ANSWER_SECONDS: Final = 5.0
MIN_QUESTIONS: Final = 3


class ProbeResult(Enum):
    """What came of a question."""

    GIVEN = auto()
    """The program answered, whatever it said of itself."""
    REFUSED = auto()
    """Nobody listens: it starts, ends or has ended."""
    MISSING = auto()
    """The question was taken, or may have been, and nothing came back in time."""


#: Asks once, and takes so many seconds at most.
Ask = Callable[[float], Awaitable[ProbeResult]]


class HangWatch:
    """Asks one program again and again, from its start on."""

    def __init__(self, ask: Ask, limit_seconds: float) -> None:
        """Ask this way; a program may be silent for so long, with 0 for ever."""
        self._ask = ask
        self._limit_seconds = limit_seconds
        self._answer_seconds = min(MAX_ANSWER_SECONDS, limit_seconds / MIN_QUESTIONS)

    async def hung(self, *, ready: bool) -> None:
        """Return once it has been silent for the limit, in several questions in a row.

        A program that has answered nothing since its start is starting, and does not hang; one that was
        seen `ready` has started.
        """
        if not self._limit_seconds:
            await asyncio.Event().wait()
        most = math.ceil(self._limit_seconds / self._answer_seconds)
        started, missing = ready, 0
        while missing < most:
            answer = await self._ask(self._answer_seconds)
            started = started or answer is ProbeResult.GIVEN
            missing = missing + 1 if started and answer is ProbeResult.MISSING else 0
            if not missing:
                await asyncio.sleep(until_beat(asyncio.get_running_loop().time(), PAUSE_SECONDS))
