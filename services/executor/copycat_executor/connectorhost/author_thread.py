"""A thread that runs author code, one job after the other, and can be interrupted in it."""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from copycat_executor.pipeline.task.memory import processor_seconds, raise_in_thread

Job = Callable[[], None]
log = logging.getLogger(__name__)


class GivenUpError(BaseException):
    """Raised in author code that nobody waits for any more; no `Exception`, which authors catch."""


class AuthorThread:
    """Runs jobs until it is ended."""

    def __init__(self, name: str, tag: str, prepare: Job) -> None:
        """Start it; the kernel calls it `tag`, and `prepare` is its first act."""
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._prepare = prepare
        self._tag = tag
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._busy = False
        self._thread.start()

    @property
    def busy(self) -> bool:
        """Whether it runs a job."""
        return self._busy and self._thread.is_alive()

    def submit(self, job: Job) -> None:
        """Run a job after those before it."""
        self._jobs.put(job)

    def end(self) -> None:
        """End it after the jobs so far."""
        self._jobs.put(None)

    def interrupt(self, error: type[BaseException]) -> None:
        """Raise an error in the job it runs, if it runs one and that comes back to Python code."""
        if self.busy and self._thread.ident is not None:
            raise_in_thread(self._thread.ident, error)

    def processor_seconds(self) -> float:
        """Return how much processor time it has used."""
        return processor_seconds(self._thread)

    def _work(self) -> None:
        with suppress(OSError):  # what is outside then knows less of who holds the interpreter
            Path("/proc/thread-self/comm").write_text(self._tag)
        self._prepare()
        while True:
            try:
                job = self._jobs.get()
                if job is None:
                    return
                self._busy = True
                job()
            except (GivenUpError, MemoryError):
                pass  # an interruption that came when its job was over
            except BaseException:  # a job that could not even say how it failed must not be the last one
                log.exception("a job of %s failed", self._thread.name)
            finally:
                self._busy = False
