"""Folds Kafka Connect's internal topics with the code of the services that own them here."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from copycat_eventlog.log import Codec, Entry
from copycat_eventlog.past.scan import TopicScan
from copycat_eventlog.unreadable import RecordReader

E = TypeVar("E")
S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class Folded(Generic[S]):
    """What a topic says."""

    state: S
    unreadable: int
    """Records that neither Kafka Connect nor Copycat reads."""


@dataclass(frozen=True, slots=True)
class TopicFold(Generic[E, S]):
    """How a topic is read: what `EventSourced` does for a service, once and without writing."""

    codec: Codec[E]
    evolve: Callable[[S, E], S]
    initial: S

    def read(self, connection: Mapping[str, str | int | bool], topic: str) -> Folded[S]:
        """Read a topic to where it ends now; blocks.

        Args:
            connection: The connection part of a librdkafka configuration.
            topic: Its name; an empty one holds nothing.

        Raises:
            UnavailableError: It was not read in time.
        """
        state, reader = self.initial, RecordReader(self.codec, topic)

        def meet(entry: Entry, _time_ms: int) -> None:
            nonlocal state
            _, state = reader.step(self.evolve, state, entry)

        if topic:
            asyncio.run(TopicScan(connection, topic).run(meet))
        return Folded(state, reader.unreadable.records)
