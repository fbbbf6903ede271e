"""Which topics the patterns of sinks mean; each is asked once about each topic, and never for long."""

from __future__ import annotations

import re
import time
from collections.abc import Collection
from typing import Final

from copycat_connect.config.user_pattern import PatternTooSlowError, UserPattern, compile_user_pattern

from copycat_scheduler.domain.partitions import INTERNAL, TOPICS_REGEX

#: Processor time for all topics that are new to a pattern. What takes microseconds is not counted.
SECONDS_A_LOOK: Final = 1.0
_UNCOUNTED_SECONDS: Final = 0.001


class TopicPattern:
    """A pattern, and what it says of each topic there is.

    It stops at the first topic at which it does not come to an end, and asks about no other while that is
    there. `look` may be called in another thread than the rest, while nobody calls the rest.
    """

    def __init__(self, written: str) -> None:
        """Take the pattern; one that is none means no topic: its connector's validation has refused it."""
        self._written = written
        self._pattern: UserPattern | None = None
        self._wrong = False
        self._means: dict[str, bool] = {}
        self._stuck: str | None = None
        self.fault: str | None = None
        """Why it is not known which topics it means: key, pattern and the way on; None where it is known."""

    @property
    def topics(self) -> list[str]:
        """The topics that it means, as far as it was asked."""
        return [topic for topic, meant in self._means.items() if meant]

    def knows(self, topics: Collection[str]) -> bool:
        """Return whether a look at these topics would find nothing new, and forget all others."""
        self._means = {topic: meant for topic, meant in self._means.items() if topic in topics}
        if self._stuck is not None and self._stuck not in topics:
            self._stuck = self.fault = None
        if self._wrong or self._stuck is not None:
            return True
        return self._pattern is not None and not self._new(topics)

    def look(self, topics: Collection[str]) -> None:
        """Ask about the topics that are new."""
        try:
            self._pattern = self._pattern or compile_user_pattern(TOPICS_REGEX, self._written)
        except re.error:
            self._wrong = True
            return
        left = SECONDS_A_LOOK
        began = time.thread_time()
        for topic in self._new(topics):
            try:
                self._means[topic] = self._pattern.fullmatch(topic, max(left, _UNCOUNTED_SECONDS)) is not None
            except PatternTooSlowError as error:
                self._stuck = topic
                self.fault = (
                    f"{error.message}. The topic is {topic}. Change {TOPICS_REGEX}, or delete that topic and"
                    " restart the connector"
                )
                return
            now = time.thread_time()
            if now - began > _UNCOUNTED_SECONDS:
                left -= now - began
            began = now

    def _new(self, topics: Collection[str]) -> list[str]:
        return [topic for topic in topics if topic not in self._means and topic not in INTERNAL]
