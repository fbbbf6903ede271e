"""Leases: which workers are there, which may come back, and what each may be running.

Pure: every time is given by the caller, seconds on a clock that only goes forward.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field, replace
from typing import TypeVar

import immutables
from copycat_connect.cluster import ORPHANED_HOST_SECONDS, Instance

from copycat_scheduler.domain.events import Assigned

#: A worker that has not heard yet of an assignment does not list it. When the assignment is taken away again,
#: beats count as "does not run it" only after it must have heard of both.
NEWS_TRAVEL_SECONDS = 1.0
#: Hosts of a worker that died hear of it so much later at most.
NOTICE_SECONDS = 0.2

K = TypeVar("K")
V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class WorkerSession:
    """A worker as its last beat described it."""

    worker_id: str
    """Unique name."""
    held: Mapping[Instance, int]
    """What it runs, drains or starts, under which generation."""
    leaving: bool
    """It drains and takes no new work."""
    at: float
    """From when its lease counts: its last beat, or what else showed that it lives."""


@dataclass(frozen=True, slots=True)
class Drain:
    """An assignment that was taken away."""

    worker_id: str
    """Who has to drain it."""
    until: float
    """A later beat that does not list it says that it is drained."""


@dataclass(frozen=True, slots=True)
class Leases:
    """All workers, live and recently lost."""

    since: float
    """When this scheduler began to listen."""
    length: float
    """Seconds a worker may be silent."""
    delay: float = 0.0
    """Seconds a lost worker's assignments wait for it (`scheduled.rebalance.max.delay.ms`)."""
    sessions: immutables.Map[str, WorkerSession] = field(default_factory=immutables.Map)
    """Live workers."""
    lost: immutables.Map[str, float] = field(default_factory=immutables.Map)
    """When the lease of a lost worker ended, or the hosts of a dead one will have ended."""
    drains: immutables.Map[Instance, Drain] = field(default_factory=immutables.Map)
    """What was taken away and may run still."""

    @property
    def first_end(self) -> float:
        """When every worker that was alive at the beginning has joined, or its lease has ended."""
        return self.since + self.length

    @property
    def taking(self) -> Set[str]:
        """Live workers that take work."""
        return {name for name, session in self.sessions.items() if not session.leaving}

    @property
    def held(self) -> set[Instance]:
        """What live workers run, drain or start."""
        return {instance for session in self.sessions.values() for instance in session.held}

    def begun(self, now: float) -> Leases:
        """Return leases that begin now, with no worker heard of yet."""
        return Leases(since=now, length=self.length, delay=self.delay)

    def same_work(self, other: Leases, worker_id: str) -> bool:
        """Whether a worker's last beat changes nothing that can be planned with since `other`.

        What a worker holds in addition frees nothing: a plan looks at everything, and while thousands of
        tasks start there would be one after the other that changes nothing.
        """
        mine, theirs = self.sessions.get(worker_id), other.sessions.get(worker_id)
        if mine is None or theirs is None:
            return mine is theirs
        freed = theirs.held.keys() - mine.held.keys()
        return not freed and (mine.leaving, self.drains) == (theirs.leaving, other.drains)

    def beat(self, session: WorkerSession) -> Leases:
        """Return the leases after a beat: its worker is live, and what it no longer lists is drained."""
        drained = [
            instance
            for instance, drain in self.drains.items()
            if drain.worker_id == session.worker_id
            and session.at > drain.until
            and instance not in session.held
        ]
        return replace(
            self,
            sessions=self.sessions.set(session.worker_id, session),
            lost=_without(self.lost, [session.worker_id]),
            drains=_without(self.drains, drained),
        )

    def left(self, worker_id: str) -> Leases:
        """Forget a worker that said goodbye empty-handed; any other stream that ends says nothing."""
        session = self.sessions.get(worker_id)
        if session is None or not session.leaving or session.held:
            return self
        return replace(self, sessions=self.sessions.delete(worker_id))

    def heard(self, worker_id: str, at: float) -> Leases:
        """Return the leases after a worker's own address answered for it: it is there, as it was."""
        session = self.sessions.get(worker_id)
        if session is None or session.at >= at:
            return self
        return replace(self, sessions=self.sessions.set(worker_id, replace(session, at=at)))

    def died(self, worker_id: str, seen: float, now: float) -> Leases:
        """Return the leases after a worker's process was seen to be gone, `seen` being when that was asked.

        What it ran is with it until its hosts have ended, which do not outlive it for long.
        """
        session = self.sessions.get(worker_id)
        if session is None or session.at > seen:
            return self
        ends = min(now + ORPHANED_HOST_SECONDS + NOTICE_SECONDS, session.at + self.length)
        return replace(
            self, sessions=self.sessions.delete(worker_id), lost=self.lost.set(worker_id, max(ends, now))
        )

    def taken(self, assignments: Iterable[Assigned], now: float) -> Leases:
        """Remember assignments that were just taken away: their workers may run them still."""
        drains = self.drains
        for assigned in assignments:
            session = self.sessions.get(assigned.worker_id)
            until = now if session and assigned.instance in session.held else now + NEWS_TRAVEL_SECONDS
            drains = drains.set(assigned.instance, Drain(assigned.worker_id, until))
        return replace(self, drains=drains)

    def expire(self, now: float) -> Leases:
        """End the leases of silent workers, and the wait for those that did not come back."""
        ends = {name: session.at + self.length for name, session in self.sessions.items()}
        silent = {name: end for name, end in ends.items() if end <= now}
        after = replace(self, sessions=_without(self.sessions, silent), lost=self.lost.update(silent))
        # Before the first end a worker that is forgotten would count as one that has not joined yet.
        over = [n for n in after.lost if now >= self.first_end and not after.expected(n, now)]
        given_up = [each for each, drain in self.drains.items() if not after.there(drain.worker_id, now)]
        return replace(after, lost=_without(after.lost, over), drains=_without(self.drains, given_up))

    def renew(self, now: float) -> Leases:
        """Count every lease from now: it was we who did not listen."""
        fresh = {name: replace(session, at=now) for name, session in self.sessions.items()}
        return replace(self, sessions=immutables.Map(fresh))

    def expected(self, worker_id: str, now: float) -> bool:
        """Whether a worker that is not live may come back to what is assigned to it."""
        return worker_id not in self.sessions and now < self._deadline(worker_id)

    def may_run(self, worker_id: str, now: float) -> bool:
        """Whether what a worker ran may run still, so that its status may be true."""
        return worker_id in self.sessions or now < self._end(worker_id)

    def there(self, worker_id: str, now: float) -> bool:
        """Whether a worker is live or may come back."""
        return worker_id in self.sessions or self.expected(worker_id, now)

    def next_deadline(self, workers: Iterable[str], now: float) -> float | None:
        """Return when time alone changes something next; `workers` are all that have or had something."""
        ends = [session.at + self.length for session in self.sessions.values()]
        for name in workers:
            if self.expected(name, now):
                ends += [end for end in (self._end(name), self._deadline(name)) if end > now]
        return min(ends, default=None)

    def holders(
        self, assignments: Iterable[Assigned], running: Mapping[Instance, str], now: float
    ) -> Mapping[Instance, Set[str]]:
        """Return which workers, live or expected, may run an instance.

        Those are: the one it is assigned to, those that list it, the one it was taken from until that is
        drained, and, while we do not know all of that yet, the one whose status says that it is `running`.
        """
        may_be: dict[str, list[Instance]] = {}
        for instance, drain in self.drains.items():
            may_be.setdefault(drain.worker_id, []).append(instance)
        for assigned in assignments:
            may_be.setdefault(assigned.worker_id, []).append(assigned.instance)
        for instance, worker_id in running.items():
            if worker_id not in self.sessions:
                may_be.setdefault(worker_id, []).append(instance)
        held: dict[Instance, frozenset[str]] = {}
        for worker_id in self.sessions.keys() | may_be.keys():
            session = self.sessions.get(worker_id)
            listed = session.held if session else ()
            _add(
                held, worker_id, (*listed, *(may_be.get(worker_id, ()) if self.there(worker_id, now) else ()))
            )
        return held

    def _deadline(self, worker_id: str) -> float:
        return self._end(worker_id) + self.delay

    def _end(self, worker_id: str) -> float:
        """Return when nothing of a worker that is not live can run any more."""
        return self.lost.get(worker_id, self.first_end)


def _add(held: dict[Instance, frozenset[str]], worker_id: str, instances: Iterable[Instance]) -> None:
    alone = frozenset((worker_id,))  # one set for all that a worker has to itself, of thousands
    for instance in instances:
        others = held.setdefault(instance, alone)
        if worker_id not in others:
            held[instance] = others | alone


def _without(entries: immutables.Map[K, V], keys: Iterable[K]) -> immutables.Map[K, V]:
    for key in keys:
        entries = entries.delete(key) if key in entries else entries
    return entries
