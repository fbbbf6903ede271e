"""Ends a JVM of Spark that hangs: hosts go on without it, but none could ever be launched again."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Final

from py4j.protocol import Py4JError

log = logging.getLogger(__name__)

INTERVAL_SECONDS: Final = 5.0
#: Looks in a row without an answer after which it hangs: not a time, which passes also while we are frozen.
MOST_LOOKS: Final = 6


class JvmWatch:
    """Asks a JVM something trivial again and again, and ends it when answers stay away."""

    def __init__(
        self, ask: Callable[[], object], end: Callable[[], None], interval_seconds: float = INTERVAL_SECONDS
    ) -> None:
        """`ask` calls into the JVM, and waits for ever when that hangs; `end` kills it."""
        self._ask = ask
        self._end = end
        self._interval_seconds = interval_seconds
        self._done = threading.Event()
        self._answers = 0

    def start(self) -> None:
        """Watch from now on, in threads of its own."""
        for work in (self._ask_on, self._look_on):
            threading.Thread(target=work, name="spark-jvm-hangs", daemon=True).start()

    def stop(self) -> None:
        """Watch no more."""
        self._done.set()

    def _ask_on(self) -> None:
        while not self._done.wait(self._interval_seconds):
            try:
                self._ask()
            except (Py4JError, OSError, AttributeError):
                self._done.set()  # it has ended, or ends: somebody else sees to that
            self._answers += 1

    def _look_on(self) -> None:
        seen = missing = 0
        while not self._done.wait(self._interval_seconds):
            missing = missing + 1 if self._answers == seen else 0
            seen = self._answers
            if missing >= MOST_LOOKS:
                log.error("Spark's JVM hangs: it answers nothing, and is ended")
                self._done.set()
                self._end()
