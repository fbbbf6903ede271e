"""The workers that are there: their beats and leases, while this instance leads."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping

from copycat_connect.cluster import Instance
from copycat_connect.errors import NotWriterError

from copycat_scheduler.adapters.change_lines import log_beat, log_died, log_left, log_lost
from copycat_scheduler.adapters.event_sourced import SchedulerEvents
from copycat_scheduler.domain.events import Assigned
from copycat_scheduler.domain.leases import Leases, WorkerSession

#: `awake` is called each half second; when it comes so late, this process was stopped or starved.
MAX_SLEEP_SECONDS = 1.0


class LiveWorkers:
    """Holds the leases; they are in no log, so an instance that begins to lead hears of all workers anew."""

    def __init__(
        self,
        events: SchedulerEvents,
        changed: Callable[[], None],
        *,
        lease_seconds: float,
        delay_seconds: float,
    ) -> None:
        """Know no worker before the first beat.

        Args:
            events: The assignments; they say whether this instance leads.
            changed: Called after a beat with which something else can be planned.
            lease_seconds: How long a worker may be silent.
            delay_seconds: How long the work of a lost worker waits for it.
        """
        self._events = events
        self._changed = changed
        self._unheard = Leases(since=0.0, length=lease_seconds, delay=delay_seconds)
        self._leases: Leases | None = None
        self._awake_at = _now()

    @property
    def leases(self) -> Leases:
        """The workers of this moment.

        Raises:
            NotWriterError: Workers join the instance that leads.
        """
        if not self._events.leads:
            raise NotWriterError("This instance of the scheduler does not lead; the workers are with another")
        if self._leases is None:
            self._leases = self._unheard.begun(_now())
        return self._leases

    def beat(self, worker_id: str, held: Mapping[Instance, int], *, leaving: bool) -> None:
        """Renew the lease of a worker with what its beat says.

        Raises:
            NotWriterError: Workers join the instance that leads.
        """
        before = self.leases
        self._leases = before.beat(WorkerSession(worker_id, held, leaving, _now()))
        log_beat(before, self._leases, worker_id)
        if not self._leases.same_work(before, worker_id):
            self._changed()

    def left(self, worker_id: str) -> None:
        """End the lease of a worker whose stream ended, if it said goodbye; else its connection was lost."""
        if self._leases is not None:
            before, self._leases = self._leases, self._leases.left(worker_id)
            log_left(before, self._leases)

    def expire(self) -> Leases:
        """End the leases that have run out, and return those that hold.

        Raises:
            NotWriterError: Workers join the instance that leads.
        """
        self.awake()
        before = self.leases
        self._leases = before.expire(_now())
        log_lost(before, self._leases)
        return self._leases

    def taken(self, assignments: Iterable[Assigned]) -> None:
        """Remember assignments that were just taken away: their workers may run them still."""
        self._leases = self.leases.taken(assignments, _now())

    def heard(self, worker_id: str, at: float) -> None:
        """Renew the lease of a worker whose own address answered at a time: its beats do not reach us."""
        if self._leases is not None:
            self._leases = self._leases.heard(worker_id, at)

    def died(self, worker_id: str, seen: float) -> None:
        """End the lease of a worker whose process was seen to be gone; one that beat after that is back."""
        if self._leases is not None:
            before, self._leases = self._leases, self._leases.died(worker_id, seen, _now())
            if log_died(before, self._leases):
                self._changed()

    def awake(self) -> None:
        """Renew all leases when this process slept, and nobody's beat could arrive; to be called often.

        No lease may end before its worker had a chance to be heard.
        """
        now, before = _now(), self._awake_at
        self._awake_at = now
        if self._leases is not None and now - before > MAX_SLEEP_SECONDS:
            self._leases = self._leases.renew(now)

    def stand_down(self) -> None:
        """Forget all workers: another instance leads."""
        self._leases = None

    @property
    def heard_of(self) -> Leases:
        """The leases as far as this instance has heard, also where another one leads."""
        return self._leases or self._unheard


def _now() -> float:
    return asyncio.get_running_loop().time()
