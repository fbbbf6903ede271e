"""What is asked of a running task; written by the control stream, read by the thread of the task."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from enum import Enum


@dataclass(frozen=True, slots=True)
class Settlement:
    """The fate of an acknowledgement."""

    sequence: int
    """Number of the acknowledgement."""
    error: str = ""
    """Why it was not committed; empty otherwise."""
    stale: bool = False
    """True when a newer generation of the task exists (I2)."""


class Ending(Enum):
    """How a task should end."""

    DRAIN = "drain"
    """Flush, commit, stop."""
    DROP = "drop"
    """Stop without a commit: nobody is there to take it."""


class TaskControl:
    """Stop and pause requests and settlements for one task."""

    def __init__(self, *, paused: bool = False) -> None:
        self._changed = threading.Condition()
        self._paused = paused
        self._ending: Ending | None = None
        self._settlements: list[Settlement] = []
        self._news = False

    @property
    def stopping(self) -> bool:
        """True once the task must end."""
        return self._ending is not None

    @property
    def dropped(self) -> bool:
        """True when the task must end without a commit."""
        return self._ending is Ending.DROP

    @property
    def paused(self) -> bool:
        """True while the task should move no data."""
        return self._paused

    def stop(self, ending: Ending = Ending.DRAIN) -> None:
        """Ask the task to end; a later DROP overrules a DRAIN."""
        with self._changed:
            if self._ending is not Ending.DROP:
                self._ending = ending
            self._tell()

    def set_paused(self, paused: bool) -> None:
        """Pause or resume the task."""
        with self._changed:
            self._paused = paused
            self._tell()

    def settle(self, settlement: Settlement) -> None:
        """Hand over the fate of an acknowledgement."""
        with self._changed:
            self._settlements.append(settlement)
            self._tell()

    def take_settlements(self) -> list[Settlement]:
        """Return what was settled since the last call."""
        if not self._settlements:
            return []
        with self._changed:
            taken, self._settlements = self._settlements, []
        return taken

    def wait(self, seconds: float) -> bool:
        """Sleep until the task must end or the time is over; True when it must end."""
        with self._changed:
            self._changed.wait_for(lambda: self._ending is not None, seconds)
            return self._ending is not None

    def wait_for_news(self, seconds: float) -> None:
        """Sleep until anything changed since the last call: a stop, a pause or resume, a settlement.

        Ends when the time is over.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._news or self.dropped, seconds)
            self._news = False

    def _tell(self) -> None:
        self._news = True
        self._changed.notify_all()
