"""Work that a connector repeats at intervals, in one thread, and what its last look at the source found."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Final, Generic, TypeVar

from copycat_connect.errors import ConfigError, CopycatError, RetriableError
from copycat_connect.plugin import ConnectorContext

_log = logging.getLogger(__name__)

#: What failed is done again as soon as this, or after its interval where that is shorter.
RETRY_SECONDS: Final = 10.0
T = TypeVar("T")
#: Who asks for tasks waits so long, well below any sensible `plugin.call.timeout.ms`; then asks again.
_FIRST_LOOK_SECONDS: Final = 5.0


class DueJobs:
    """Does jobs in the order they fall due; one that fails is logged and done again.

    The connector waits for as long as a job fails, or returns what it misses. Whatever ends the thread fails
    the connector, and so does a configuration that turns out to be wrong.
    """

    def __init__(self, name: str, context: ConnectorContext) -> None:
        """Use the thread's name, and whom to inform what the connector waits for."""
        self._jobs: list[tuple[float, Callable[[], str | None], str]] = []
        self._due: list[float] = []
        self._waits: dict[str, str] = {}
        self._context = context
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def repeat(
        self, job: Callable[[], str | None], seconds: float, what: str, *, at_once: bool = False
    ) -> None:
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
        try:
            while self._jobs:
                place = min(range(len(self._due)), key=self._due.__getitem__)
                if self._stopping.wait(max(0.0, self._due[place] - time.monotonic())):
                    return
                self._due[place] = time.monotonic() + self._do(*self._jobs[place])
        except BaseException as error:  # whatever it is, nobody looks any more
            self._context.raise_error(error)

    def _do(self, seconds: float, job: Callable[[], str | None], what: str) -> float:
        """Do a job; returns the seconds until it is done again."""
        again = min(seconds, RETRY_SECONDS)
        try:
            self._tell(what, job())
        except ConfigError:
            raise  # only another configuration helps
        except CopycatError as error:
            _log.warning("Failed %s, trying again in %g s: %s", what, again, error.message)
            self._tell(what, f"{what} fails: {error.message}")
        except Exception as error:
            _log.exception("Failed %s, trying again in %g s", what, again)
            self._tell(what, f"{what} fails: {type(error).__name__}: {error}")
        else:
            return seconds
        return again

    def _tell(self, what: str, waits: str | None) -> None:
        if waits is None:
            self._waits.pop(what, None)
        else:
            self._waits[what] = waits
        if not self.stopping:
            self._context.waiting("; ".join(self._waits.values()) or None)


class Watch(Generic[T]):
    """Looks again and again, in the thread of the connector's jobs, and asks for new tasks on a change.

    Until a look has succeeded nobody knows what to divide: tasks that there are go on.
    """

    def __init__(
        self, look: Callable[[], T], context: Callable[[], ConnectorContext], changed: Callable[[T], None]
    ) -> None:
        """Nothing is known yet.

        Args:
            look: Returns what is there now.
            context: Returns the connector's context.
            changed: Hears what is there, before tasks are divided anew over it.
        """
        self._look = look
        self._context = context
        self._changed = changed
        self._looked = threading.Event()
        self._found: T | None = None
        self._given: T | None = None
        self._asked = False
        self._error: CopycatError | None = None

    @property
    def looked(self) -> bool:
        """True once a look has succeeded."""
        return self._found is not None

    @property
    def found(self) -> T | None:
        """What the last look that succeeded has found."""
        return self._found

    def give(self, places: str) -> T:
        """Return what tasks are divided over, and remember it; `places` says who is asked for it.

        Raises:
            RetriableError: No look has succeeded yet, and a later one may.
            CopycatError: None has, and somebody has to mend that; it is looked again all the same.
        """
        self._looked.wait(_FIRST_LOOK_SECONDS)
        self._asked, self._given = True, self._found
        if self._found is None:
            if self._error is not None:
                raise self._error.with_traceback(None)
            raise RetriableError(f"{places}: not all that a look needs is answered yet")
        return self._found

    def look(self) -> None:
        """Look once.

        Raises:
            CopycatError: It failed, and is to be tried again unless the configuration is wrong.
        """
        try:
            found = self._look()
        except CopycatError as error:
            self._error = error
            self._looked.set()
            raise
        self._found = found
        self._looked.set()
        if self._asked and found != self._given:
            self._changed(found)
            self._context().request_task_reconfiguration()
