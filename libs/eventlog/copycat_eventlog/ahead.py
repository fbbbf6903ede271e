"""The state ahead: what the fold will show once the events in flight have reached it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import reduce
from typing import Generic, TypeVar

from copycat_eventlog.log import Record

E = TypeVar("E")
S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class Flight:
    """The events of one decision on their way through the log."""

    first: int
    """Number of its first event; numbers count the events ever sent off."""
    size: int


class Ahead(Generic[E, S]):
    """Folded state plus the events in flight, so that decisions need not wait for each other's round trip."""

    def __init__(self, evolve: Callable[[S, E], S], state: S) -> None:
        """Start with nothing in flight."""
        self.state = state
        """What the next decision is made on."""
        self._evolve = evolve
        self._folded = state
        self._next = 0
        self._flying: dict[int, tuple[Record, E]] = {}
        self._by_key: dict[bytes, deque[int]] = {}

    def send(self, events: Sequence[E], records: Sequence[Record]) -> Flight:
        """Add the events of a decision, one record each, before they are appended."""
        flight = Flight(self._next, len(events))
        for event, record in zip(events, records, strict=True):
            self._flying[self._next] = (record, event)
            self._by_key.setdefault(record.key, deque()).append(self._next)
            self._next += 1
        self.state = reduce(self._evolve, events, self.state)
        return flight

    def fold(self, state: S, records: Iterable[Record]) -> None:
        """Set the folded state after these records."""
        self._folded = state
        if not self._flying:
            self.state = state
            return
        arrivals = [self._arrive(record) for record in records]
        # Our own events in our own order are in `state` already. Anything else was written by others.
        if not all(arrivals) or not self._flying:
            self._rebuild()

    def drop(self, flight: Flight) -> None:
        """Forget a flight and all that was decided after it: it failed."""
        self._remove([number for number in self._flying if number >= flight.first])

    def land(self, flight: Flight) -> None:
        """Forget a flight that was folded."""
        self._remove([n for n in range(flight.first, flight.first + flight.size) if n in self._flying])

    def _arrive(self, record: Record) -> bool:
        waiting = self._by_key.get(record.key)
        if not waiting or self._flying[waiting[0]][0].value != record.value:
            return False
        del self._flying[waiting.popleft()]
        if not waiting:
            del self._by_key[record.key]
        return True

    def _remove(self, numbers: Sequence[int]) -> None:
        for number in numbers:
            record, _ = self._flying.pop(number)
            waiting = self._by_key[record.key]
            waiting.remove(number)
            if not waiting:
                del self._by_key[record.key]
        if numbers:
            self._rebuild()

    def _rebuild(self) -> None:
        self.state = self._folded
        for _, event in self._flying.values():
            # Part of the fold of what others wrote, which passes over what cannot be followed.
            with suppress(Exception):
                self.state = self._evolve(self.state, event)
