"""Work that a connector repeats at intervals, in one thread."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from copycat_connect.errors import CopycatError

_log = logging.getLogger(__name__)


class Jobs:
    """Does jobs in the order they fall due; one that fails is logged and done again when it is due."""

    def __init__(self, name: str) -> None:
        """Take the thread's name."""
        self._jobs: list[tuple[float, Callable[[], None], str]] = []
        self._due: list[float] = []
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def repeat(self, job: Callable[[], None], seconds: float, what: str, *, at_once: bool = False) -> None:
        """Do a job every so many seconds; to be called before `start`."""
        self._jobs.append((seconds, job, what))
        self._due.append(time.monotonic() + (0 if at_once else seconds))

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    @property
    def stopping(self) -> bool:
        """True once `stop` was called: a job that takes long looks at it."""
        return self._stopping.is_set()

    def stop(self) -> None:
        """End; a job that is being done goes on to its end, unheeded."""
        self._stopping.set()

    def _run(self) -> None:
        while self._jobs:
            place = min(range(len(self._due)), key=self._due.__getitem__)
            if self._stopping.wait(max(0.0, self._due[place] - time.monotonic())):
                return
            seconds, job, what = self._jobs[place]
            try:
                job()
            except CopycatError as error:
                _log.warning("Failed %s, trying again in %g s: %s", what, seconds, error.message)
            except Exception:
                _log.exception("Failed %s, trying again in %g s", what, seconds)
            self._due[place] = time.monotonic() + seconds
