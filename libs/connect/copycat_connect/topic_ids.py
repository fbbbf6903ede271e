"""Topics that were deleted and made anew under who reads them: only their ids differ."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent import futures
from concurrent.futures import Future
from typing import Final, Protocol


class Described(Protocol):
    """What a cluster answers about a topic."""

    @property
    def topic_id(self) -> object:
        """Its id; all zeros from brokers that have none."""


#: Asks a cluster for topics; the answer of one that is not there is an error.
Ask = Callable[[Sequence[str]], Mapping[str, Future[Described]]]

#: For an answer that somebody waits for.
_SOON_SECONDS: Final = 2.0
#: As Kafka writes the id whose bits are all 0.
_NO_ID: Final = "A" * 22


class TopicIds:
    """Notices that a topic is another one than at the last look; positions in it may well exist.

    Looks do not wait for their answers, except where somebody is about to rely on it, and then once for each:
    while brokers are away whoever relies on it goes on. Brokers before Kafka 2.8 have no ids; nothing is
    noticed there.
    """

    def __init__(self, ask: Ask, every: float) -> None:
        """`ask` may not wait; while nobody relies on the answer it is called each so many seconds."""
        self._make = ask
        self._every = every
        self._ids: dict[str, str] = {}
        self._topics: list[str] = []
        self._asked: Mapping[str, Future[Described]] = {}
        self._is_late = False
        self._next_look = math.inf

    def begin(self, topics: Iterable[str]) -> None:
        """Look at topics from now on; those that are there now are the ones that are read."""
        self._ids, self._topics = {}, sorted(set(topics))
        self._ask()

    def replaced(self, *, wait: bool) -> set[str]:
        """Return the topics that are others than at the last look.

        Args:
            wait: Ask now and wait for the answer, if it comes soon; else a look is made now and then.
        """
        if not (wait or self._asked) and time.monotonic() < self._next_look:
            return set()
        patience = _SOON_SECONDS if wait else 0
        replaced = self._answered(patience)
        if not self._asked and (wait or time.monotonic() >= self._next_look):
            self._ask()
            replaced |= self._answered(patience)
        return replaced

    def _answered(self, seconds: float) -> set[str]:
        if futures.wait(self._asked.values(), 0 if self._is_late else seconds).not_done:
            self._is_late |= seconds > 0
            return set()
        found, self._asked = self._asked, {}
        return {topic for topic, answer in found.items() if self._is_other(topic, answer)}

    def _ask(self) -> None:
        if self._topics:
            self._next_look = time.monotonic() + self._every
            self._asked, self._is_late = self._make(self._topics), False

    def _is_other(self, topic: str, answer: Future[Described]) -> bool:
        if answer.exception() is not None:
            return False  # it is missing, or the brokers are away: another look says which one there is
        found = str(answer.result().topic_id)
        if found == _NO_ID:
            return False
        former, self._ids[topic] = self._ids.get(topic, found), found
        return found != former
