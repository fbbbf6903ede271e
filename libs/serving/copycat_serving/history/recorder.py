"""Keeps what a service appended as changes, with who asked for them."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from copycat_eventlog.log import Entry, Record
from copycat_eventlog.observing import Observer
from copycat_eventlog.past.keeper import ChangesKeeper
from copycat_eventlog.past.own_log import Describing
from copycat_telemetry.asking import NOBODY, Asker, current_asker
from copycat_telemetry.tracing import current_trace_id

E = TypeVar("E")
S = TypeVar("S")


class Recorder(Observer[E, S]):
    """Remembers who asks while an event is on its way, and keeps the change once the event is durable."""

    def __init__(
        self,
        keeper: ChangesKeeper,
        describing: Describing[E, S],
        clock: Callable[[], int] = time.time_ns,
    ) -> None:
        """`clock` gives nanoseconds since the epoch."""
        self._keeper = keeper
        self._describing = describing
        self._clock = clock
        self._on_their_way: dict[Record, tuple[Asker, str]] = {}

    def sent(self, events: Sequence[E], records: Sequence[Record]) -> None:
        """Remember for whom; of the same record twice, the later one."""
        asked: tuple[Asker, str] | None = None
        for event, record in zip(events, records, strict=True):
            if not isinstance(event, self._describing.untold):
                asked = asked or (current_asker(), current_trace_id())
                self._on_their_way[record] = asked

    def dropped(self, records: Sequence[Record]) -> None:
        """Forget them: where one is in the log all the same, only the log has it."""
        for record in records:
            self._on_their_way.pop(record, None)

    def folded(self, event: E, before: S, entry: Entry) -> None:
        """Keep what this instance has appended; of others, they do."""
        if not self._on_their_way:
            return
        asked = self._on_their_way.pop(entry.record, None)
        if asked is None:
            return
        asker, trace_id = asked
        for change in self._describing.tell(event, before):
            self._keeper.append(
                replace(
                    change,
                    time_ms=self._clock() // 1_000_000,
                    by=change.by if asker == NOBODY else asker,
                    trace_id=trace_id,
                    position=(entry.partition, entry.offset),
                )
            )
