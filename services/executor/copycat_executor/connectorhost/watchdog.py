"""Watches author code in the process of the connectors: what was given up ends, and memory is bounded.

Author code is first interrupted in its thread, which harms nobody else. What does not heed that ends with the
process: the executor starts another, and every connector that still runs begins anew there. Tasks go on.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from copycat_executor.connectorhost.author_thread import GivenUpError
from copycat_executor.connectorhost.instance import ConnectorInstance
from copycat_executor.connectorhost.questions import AuthorQuestion
from copycat_executor.pipeline.task.memory import LONGEST_INTERVAL_SECONDS, MemoryBound, memory_error

log = logging.getLogger(__name__)

CONNECTOR_MEMORY_MAX: Final = "connector.memory.max"
#: Between two looks at author code that was given up.
LOOK_INTERVAL_SECONDS: Final = 0.2
#: Author code that was given up may use a processor for this long before it is ended with the process.
GIVEN_UP_TIMEOUT_SECONDS: Final = 10.0
#: Processor time by which it is known not merely to wait, within that time.
GIVEN_UP_PROCESSOR_SECONDS: Final = 1.0
#: Threads that wait for ever cost little, but not nothing.
MAX_GIVEN_UP: Final = 20
WATCHDOG_EXIT_CODE: Final = 4
#: Author code that is looked after: a connector, or a question about a configuration.
Watched: TypeAlias = ConnectorInstance | AuthorQuestion


class Watchdog:
    """Looks at the connectors' threads and at the memory of the process."""

    def __init__(
        self,
        memory_limit: int,
        running: Callable[[], list[Watched]],
        ends: Callable[[tuple[str, ...]], None],
    ) -> None:
        """Prepare; `start` begins to watch.

        Args:
            memory_limit: In bytes, 0 for none.
            running: Returns the connectors and questions that are not given up.
            ends: Hears for the sake of which authors the process is about to end.
        """
        self._ends = ends
        self._memory: MemoryBound[Watched] = MemoryBound(
            memory_limit, CONNECTOR_MEMORY_MAX, self._end_for_memory
        )
        self._running = running
        self._given_up: list[tuple[float, float, ConnectorInstance]] = []
        self._lock = threading.Lock()
        self._some_given_up = threading.Event()

    def start(self) -> None:
        """Watch from now on, in a thread of its own."""
        threading.Thread(target=self._watch, name="watchdog", daemon=True).start()

    def give_up(self, instance: ConnectorInstance) -> None:
        """See to it that what this connector still does ends."""
        instance.abandon()
        with self._lock:
            self._given_up.append((time.monotonic(), instance.thread.processor_seconds(), instance))
        self._some_given_up.set()

    def _watch(self) -> None:
        pause = LOOK_INTERVAL_SECONDS
        while True:
            try:
                pause = self._look(pause)
            except Exception:  # a look that fails must not be the last one
                log.exception("the code of connectors cannot be looked at")
                time.sleep(LONGEST_INTERVAL_SECONDS)

    def _look(self, pause: float) -> float:
        if self._some_given_up.wait(pause):
            time.sleep(LOOK_INTERVAL_SECONDS)  # it may end when it is asked to
            self._end_given_up()
        return self._memory.look([each for each in self._running() if each.thread.busy])

    def _end_given_up(self) -> None:
        now = time.monotonic()
        self._some_given_up.clear()
        with self._lock:
            self._given_up = [each for each in self._given_up if each[2].thread.busy]
            busy = list(self._given_up)
        if busy:
            self._some_given_up.set()
        for since, used, instance in busy:
            instance.thread.interrupt(GivenUpError)
            uses = instance.thread.processor_seconds() - used > GIVEN_UP_PROCESSOR_SECONDS
            if now - since > GIVEN_UP_TIMEOUT_SECONDS and uses:
                self._end_process([instance], f"code of {_names(instance)}, which was given up, does not end")
        if len(busy) > MAX_GIVEN_UP:
            hung = [each[2] for each in busy]
            self._end_process(hung, f"{len(busy)} connectors that were given up hang")

    def _end_for_memory(self, blamed: Watched | None, text: str) -> None:
        if blamed is not None:
            blamed.raise_error(memory_error(text)())
        whose = "it is not known whose" if blamed is None else _names(blamed)
        self._end_process([] if blamed is None else [blamed], f"{text}; {whose}")

    def _end_process(self, blamed: Sequence[Watched], why: str) -> None:
        log.error("the process of the connectors is replaced: %s", why)
        self._ends(tuple(author for each in blamed for author in each.authors))
        os._exit(WATCHDOG_EXIT_CODE)


def _names(watched: Watched) -> str:
    return " of ".join(watched.authors) or "no connector"
