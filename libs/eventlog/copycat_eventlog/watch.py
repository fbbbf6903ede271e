"""Watch: the recent changes of a state, kept for watchers to follow and to resume from."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Generic, TypeVar

from copycat_connect.errors import LogCompactedError

from copycat_eventlog.log import Revision

E = TypeVar("E")
S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class LogSnapshot(Generic[S]):
    """The whole state at a revision; what a watch without a starting point begins with."""

    state: S
    revision: Revision


@dataclass(frozen=True, slots=True)
class LoggedChange(Generic[E, S]):
    """One event, in log order, with the state right after it."""

    event: E
    state: S
    revision: Revision
    """A watch may resume after this."""
    traceparent: str = ""
    """The span that led to it; empty where none is exported."""


@dataclass(frozen=True, slots=True)
class _Placed(Generic[E, S]):
    """A change with its place in the log."""

    partition: int
    offset: int
    change: LoggedChange[E, S]


@dataclass(eq=False, slots=True)
class Cursor:
    """Where one watcher is."""

    at: int
    """The number of the change it reads next."""


class RecentChanges(Generic[E, S]):
    """A ring of the last changes, and of those before that a watcher has still to read.

    Watchers hold a cursor into it and no queue of their own. One decision may be larger than the ring, when a
    worker of thousands of tasks is lost: changes stay until who watches has read them, up to a bound, or all
    watchers would take a new snapshot each time, and fall behind again while they take it.
    """

    def __init__(self, capacity: int, backlog: int) -> None:
        """Keep the last `capacity` changes, and up to `backlog` of them for watchers that are behind."""
        self._ring: deque[_Placed[E, S]] = deque()
        self._capacity = capacity
        self._backlog = max(capacity, backlog)
        self._first = (
            0  # number of the oldest change in the ring; numbers count from the first change ever added
        )
        self._floor: dict[int, int] = {}  # per partition: every change from this offset on is in the ring
        self._cursors: set[Cursor] = set()
        self._waiters: list[asyncio.Future[None]] = []
        self._closed = False

    def begin(self, revision: Revision) -> None:
        """Set the point before which nothing can be resumed."""
        self._floor = dict(revision.next)

    def add(self, partition: int, offset: int, change: LoggedChange[E, S]) -> None:
        """Add the newest change and wake all watches; what nobody has still to read is dropped."""
        self._ring.append(_Placed(partition, offset, change))
        self._trim()
        self._wake()

    def close(self) -> None:
        """End every watch: no change comes any more."""
        self._closed = True
        self._wake()

    @contextmanager
    def now(self) -> Iterator[Cursor]:
        """Hold a cursor behind the newest change: what comes after it stays until it is read."""
        with self._held(self._end) as cursor:
            yield cursor

    async def follow(self, cursor: Cursor) -> AsyncIterator[LoggedChange[E, S]]:
        """Yield every change added since the cursor was taken.

        Raises:
            LogCompactedError: The watcher was too slow.
        """
        async for placed in self._from(cursor):
            yield placed.change

    async def resume(self, after: Revision) -> AsyncIterator[LoggedChange[E, S]]:
        """Yield every change that `after` does not cover.

        Raises:
            LogCompactedError: Changes after that point are gone, or the watcher was too slow.
        """
        if any(after.next.get(partition, 0) < offset for partition, offset in self._floor.items()):
            raise LogCompactedError("The changes after this revision are gone; ask for a new snapshot")
        # Partitions have no order between them: `after` may be ahead of the ring in one, behind in another.
        seen = after
        with self._held(self._first) as cursor:
            async for placed in self._from(cursor):
                if placed.offset >= after.next.get(placed.partition, 0):
                    change = placed.change
                    seen = seen.merge(change.revision)
                    yield LoggedChange(change.event, change.state, seen, change.traceparent)

    async def _from(self, cursor: Cursor) -> AsyncIterator[_Placed[E, S]]:
        while not self._closed:
            if cursor.at < self._first:
                raise LogCompactedError(
                    "The watcher is too slow for the rate of changes; ask for a new snapshot"
                )
            if cursor.at == self._end:
                self._trim()
                await self._grown()
                continue
            placed = self._ring[cursor.at - self._first]
            cursor.at += 1
            yield placed

    @property
    def _end(self) -> int:
        return self._first + len(self._ring)

    @contextmanager
    def _held(self, at: int) -> Iterator[Cursor]:
        cursor = Cursor(at)
        self._cursors.add(cursor)
        try:
            yield cursor
        finally:
            self._cursors.discard(cursor)
            self._trim()

    def _trim(self) -> None:
        """Drop the oldest beyond the capacity; those that are still to be read, beyond the backlog."""
        while len(self._ring) > self._capacity:
            unread = any(cursor.at <= self._first for cursor in self._cursors)
            if unread and len(self._ring) <= self._backlog:
                return
            oldest = self._ring.popleft()
            self._floor[oldest.partition] = oldest.offset + 1
            self._first += 1

    async def _grown(self) -> None:
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        try:
            await waiter
        finally:
            if waiter in self._waiters:  # the watcher went away before anything woke it
                self._waiters.remove(waiter)

    def _wake(self) -> None:
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)
