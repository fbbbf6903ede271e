"""Which of a task's calls is under way, and which fail and are tried again.

Noted once a batch, never for a record. The task's thread writes, the progress watch of its host reads: each
field is replaced as a whole, so that neither waits for the other.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple


class RunningCall(NamedTuple):
    """A call that has not returned."""

    name: str
    """`poll`, `put`, `pre_commit`, ...: as a task's class names it where that is what is called."""
    began: float
    """Time of the clock."""


@dataclass(frozen=True, slots=True)
class FailedTries:
    """A call that fails and is tried again."""

    name: str
    """As in `RunningCall`."""
    began: float
    """When it failed first, time of the clock."""
    tries: int
    """How often it failed since."""
    error: BaseException | str
    """What the last try gave."""


class Wait(NamedTuple):
    """What a task waits for, as its code says."""

    reason: str
    """What should be there and is not."""
    began: float
    """Time of the clock."""


class CallLog:
    """The calls of one run. `with calls("put"):` notes one; of two within each other the inner counts."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """Keep a clock whose seconds never run backwards."""
        self.clock = clock
        self.open: RunningCall | None = None
        self.waits: Wait | None = None
        self.longest_poll = 0.0
        """How long a poll took that returned, at most, seconds."""
        self.obstacle: Callable[[], str] = str
        """Why Kafka takes nothing from the task, as far as it is known; empty while it does."""
        self._failed: dict[str, FailedTries] = {}

    def __call__(self, name: str) -> CallLog:
        """Name the call that is about to begin."""
        self.open = RunningCall(name, self.clock())
        return self

    def __enter__(self) -> None:
        """Begin it."""

    def __exit__(self, *_: object) -> None:
        """It has returned, or raised."""
        ended, self.open = self.open, None
        if ended is not None and ended.name == "poll":
            self.longest_poll = max(self.longest_poll, self.clock() - ended.began)

    def rest(self, wait: Callable[[float], bool], seconds: float) -> bool:
        """Let the call that is open wait by its own wish, which is no hanging; returns what `wait` returns.

        Code that waits while it handles an exception is about to try again what raised that.
        """
        resting, self.open, error = self.open, None, sys.exc_info()[1]
        if resting is not None and error is not None:
            self.failed(resting.name, error)
        try:
            return wait(seconds)
        finally:
            if resting is not None:
                self.open = RunningCall(resting.name, self.clock())

    def wait_for(self, reason: str | None) -> None:
        """Note what is waited for; None when nothing is any more."""
        known = self.waits
        if reason is None:
            self.waits = None
        elif known is None or known.reason != reason:
            self.waits = Wait(reason, self.clock() if known is None else known.began)

    def failed(self, name: str, error: BaseException | str) -> None:
        """Note that a call failed and is to be tried again."""
        known = self._failed.get(name)
        began, tries = (self.clock(), 0) if known is None else (known.began, known.tries)
        self._failed = {**self._failed, name: FailedTries(name, began, tries + 1, error)}

    def worked(self, name: str) -> None:
        """Note that a call has worked, or is tried no more."""
        if name in self._failed:
            self._failed = {each: tries for each, tries in self._failed.items() if each != name}

    def tried(self) -> FailedTries | None:
        """Return the call that has failed for longest."""
        return min(self._failed.values(), key=lambda each: each.began, default=None)
