"""Learns what an instance has appended, once it is durable; by itself it does nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, TypeVar

from copycat_eventlog.log import Entry, Record

E = TypeVar("E")
S = TypeVar("S")


class Observer(Generic[E, S]):
    """Called in the event loop, in the order of the log; nothing here may wait or raise."""

    def sent(self, events: Sequence[E], records: Sequence[Record]) -> None:
        """Records are about to be appended, for whoever asks in the current context."""

    def dropped(self, records: Sequence[Record]) -> None:
        """Records were not appended, or nobody knows."""

    def folded(self, event: E, before: S, entry: Entry) -> None:
        """An event is durable; `before` is the state without it. Of other instances, too, and at start."""
