"""Watch: the recent changes of a state, kept for watchers to follow and to resume from."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from copycat_connect.errors import LogCompactedError

from copycat_eventlog.log import Revision

E = TypeVar("E")
S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class Snapshot(Generic[S]):
    """The whole state at a revision; what a watch without a starting point begins with."""

    state: S
    revision: Revision


@dataclass(frozen=True, slots=True)
class Change(Generic[E, S]):
    """One event, in log order, with the state right after it."""

    event: E
    state: S
    revision: Revision
    """A watch may resume after this."""


@dataclass(frozen=True, slots=True)
class _Placed(Generic[E, S]):
    """A change with its place in the log."""

    partition: int
    offset: int
    change: Change[E, S]


class History(Generic[E, S]):
    """A ring of the last changes.

    Watchers hold a cursor into it and no queue of their own, so a slow watcher costs no memory: when the ring
    has moved past its cursor it must take a new snapshot.
    """

    def __init__(self, capacity: int) -> None:
        """Keep the last `capacity` changes."""
        self._ring: deque[_Placed[E, S]] = deque()
        self._capacity = capacity
        self._first = (
            0  # number of the oldest change in the ring; numbers count from the first change ever added
        )
        self._floor: dict[int, int] = {}  # per partition: every change from this offset on is in the ring
        self._waiters: list[asyncio.Future[None]] = []
        self._closed = False

    def begin(self, revision: Revision) -> None:
        """Set the point before which nothing can be resumed."""
        self._floor = dict(revision.next)

    def add(self, partition: int, offset: int, change: Change[E, S]) -> None:
        """Add the newest change and wake all watches; the oldest is dropped beyond the capacity."""
        self._ring.append(_Placed(partition, offset, change))
        if len(self._ring) > self._capacity:
            oldest = self._ring.popleft()
            self._floor[oldest.partition] = oldest.offset + 1
            self._first += 1
        self._wake()

    def close(self) -> None:
        """End every watch: no change comes any more."""
        self._closed = True
        self._wake()

    def now(self) -> int:
        """A cursor behind the newest change."""
        return self._first + len(self._ring)

    async def follow(self, cursor: int) -> AsyncIterator[Change[E, S]]:
        """Yield every change added since the cursor was taken.

        Raises:
            LogCompactedError: The watcher was too slow.
        """
        async for placed in self._from(cursor):
            yield placed.change

    async def resume(self, after: Revision) -> AsyncIterator[Change[E, S]]:
        """Yield every change that `after` does not cover.

        Raises:
            LogCompactedError: Changes after that point are gone, or the watcher was too slow.
        """
        if any(after.next.get(partition, 0) < offset for partition, offset in self._floor.items()):
            message = "The changes after this revision are gone; ask for a new snapshot"
            raise LogCompactedError(message)
        # Partitions have no order between them: `after` may be ahead of the ring in one, behind in another.
        seen = after
        async for placed in self._from(self._first):
            if placed.offset >= after.next.get(placed.partition, 0):
                change = placed.change
                seen = seen.merge(change.revision)
                yield Change(change.event, change.state, seen)

    async def _from(self, cursor: int) -> AsyncIterator[_Placed[E, S]]:
        while not self._closed:
            if cursor < self._first:
                message = "The watcher is too slow for the rate of changes; ask for a new snapshot"
                raise LogCompactedError(message)
            if cursor == self.now():
                await self._grown()
                continue
            placed = self._ring[cursor - self._first]
            cursor += 1
            yield placed

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
