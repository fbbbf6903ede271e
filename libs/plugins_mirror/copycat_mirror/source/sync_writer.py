"""Offset syncs as they are written: which records they name, and when they go out.

As MirrorMaker does it: a sync goes out at once for the first record of a partition, after a gap, and when
`offset.lag.max` records were copied since the last; the newest record besides at each commit. No more than
ten are on their way; of a partition that has to wait only the newest goes out.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from copycat_mirror.records import OffsetSync

_MOST_UNDER_WAY = 10
_LAST_WAIT_SECONDS = 5.0
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Mark:
    """A record whose place at the target is wanted."""

    topic: str
    """Topic of the source."""
    partition: int
    """Its partition."""
    upstream: int
    """The record's offset."""
    at_once: bool
    """Whether its sync goes out when the place is known, or with the next commit."""


class SyncPlan:
    """Chooses the records that are named, before they are written."""

    def __init__(self, lag_max: int) -> None:
        """Use how many records may be copied between two syncs."""
        self._step = max(lag_max, 0) + 1
        self._next: dict[tuple[str, int], int] = {}
        self._left: dict[tuple[str, int], int] = {}

    def choose(self, topic: str, partition: int, upstream: Sequence[int]) -> dict[int, Mark]:
        """Return the records to be named among the next ones of a partition, by their index.

        Args:
            topic: Topic of the source.
            partition: Its partition.
            upstream: The offsets of the records, ascending; at least one.
        """
        where = (topic, partition)
        at_once = self._at_once(where, upstream)
        last = len(upstream) - 1
        marks = {place: Mark(topic, partition, upstream[place], at_once=True) for place in at_once}
        if last not in marks:
            marks[last] = Mark(topic, partition, upstream[last], at_once=False)
        self._next[where] = upstream[last] + 1
        return marks

    def _at_once(self, where: tuple[str, int], upstream: Sequence[int]) -> list[int]:
        left, expected = self._left.get(where, 0), self._next.get(where)
        if upstream[0] == expected and upstream[-1] - upstream[0] == len(upstream) - 1:
            places = list(range(left, len(upstream), self._step))
            after = places[-1] + self._step if places else left
            self._left[where] = after - len(upstream)
            return places
        places = []
        for place, offset in enumerate(upstream):
            if offset != expected or left == 0:
                places.append(place)
                left = self._step
            left, expected = left - 1, offset + 1
        self._left[where] = left
        return places


class SyncWriter:
    """Writes the syncs of records whose place is known."""

    def __init__(self, producer: Producer, topic: str) -> None:
        """Use the producer, of this writer alone, and the topic of offset syncs."""
        self._producer = producer
        self._topic = topic
        self._pending: dict[tuple[str, int], OffsetSync] = {}
        self._delayed: dict[tuple[str, int], OffsetSync] = {}
        self._downstream: dict[tuple[str, int], int] = {}

    def note(self, mark: Mark, downstream: int) -> None:
        """Note where a record is at the target."""
        where = (mark.topic, mark.partition)
        sync = OffsetSync(mark.topic, mark.partition, mark.upstream, downstream)
        # An offset that went back says that the target's topic was made anew.
        if mark.at_once or downstream < self._downstream.get(where, -1):
            self._delayed.pop(where, None)
            self._pending[where] = sync
        else:
            self._delayed[where] = sync
        self._downstream[where] = downstream
        self._send()

    def commit(self) -> None:
        """Send what waited for a commit."""
        self._pending.update(self._delayed)
        self._delayed.clear()
        self._send()

    def close(self) -> None:
        """Send what is left, for some seconds at most."""
        self.commit()
        while self._pending and self._producer.flush(_LAST_WAIT_SECONDS) == 0:
            self._send()
        self._producer.flush(_LAST_WAIT_SECONDS)

    def _send(self) -> None:
        self._producer.poll(0)
        while self._pending and len(self._producer) < _MOST_UNDER_WAY:
            sync = self._pending.pop(next(iter(self._pending)))
            try:
                self._producer.produce(
                    self._topic, sync.value(), sync.key(), partition=0, on_delivery=_report_failure
                )
            except KafkaException as error:
                _log.warning("An offset sync was not written: %s", error.args[0].str())


def _report_failure(error: KafkaError | None, message: Message) -> None:
    if error is not None:
        _log.warning("An offset sync was not written to %s: %s", message.topic(), error.str())
