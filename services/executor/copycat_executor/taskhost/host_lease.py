"""How long this host may go on: its executor renews that, and the kernel ends the process when it does not.

An executor that is frozen, or cut off, may have lost its tasks to another worker. No thread of ours could be
relied on to end the process then: author code may hold the interpreter, and the host may have been frozen
itself. So each renewal sets the process's alarm anew: that ends the process, and is due while it is stopped.
"""

from __future__ import annotations

import logging
import signal
import threading
from collections.abc import Callable
from math import inf
from typing import Final

_log = logging.getLogger(__name__)

#: So long before the kernel acts, tasks are asked to end.
NOTICE_SECONDS: Final = 0.5
#: Of the heartbeats that nobody has answered, the last so many count; none is answered before a worker joins.
_UNANSWERED: Final = 100
#: Setting an alarm to nothing would switch it off.
_AT_ONCE_SECONDS: Final = 0.001


class HostLease:
    """The lease of this process; called from any thread."""

    def __init__(
        self, clock: Callable[[], float], set_alarm: Callable[[float], object] | None = None
    ) -> None:
        """Hold no lease yet, so that nothing ends; `set_alarm` takes seconds, 0 for never."""
        self._clock = clock
        self._set_alarm = set_alarm or (lambda seconds: signal.setitimer(signal.ITIMER_REAL, seconds))
        self._lock = threading.Lock()
        self._asked: dict[int, float] = {}
        self._newest = -1
        self._until: float | None = None

    def asked(self, number: int) -> None:
        """Note that the heartbeat of this number is about to be sent."""
        with self._lock:
            self._asked[number] = self._clock()
            if len(self._asked) > _UNANSWERED:
                del self._asked[min(self._asked)]

    def renewed(self, number: int, seconds: float) -> None:
        """The executor answered: the host may go on for so long from the moment it sent that heartbeat.

        The executor may have answered long before the host reads it, so that only our own clock counts.
        """
        with self._lock:
            if number <= self._newest or number not in self._asked:
                return
            self._newest = number
            self._until = self._asked[number] + seconds
            self._asked = {each: at for each, at in self._asked.items() if each > number}
            self._set_alarm(max(_AT_ONCE_SECONDS, self._until - self._clock()))

    @property
    def left(self) -> float:
        """For how many seconds tasks may go on; without a lease for ever."""
        until = self._until
        return inf if until is None else until - NOTICE_SECONDS - self._clock()

    def runs_out(self) -> bool:
        """Return whether it is time to end the tasks."""
        return self.left < 0

    def end_within(self, seconds: float) -> None:
        """Have the process end after so long, whatever its threads do."""
        with self._lock:
            if self._until is not None:
                self._set_alarm(min(seconds, max(_AT_ONCE_SECONDS, self._until - self._clock())))

    def over(self) -> None:
        """Let the process live on: nothing of its tasks is left in it."""
        with self._lock:
            self._until = None
            self._set_alarm(0.0)
