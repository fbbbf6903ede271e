"""What a mirror's connector found at its last look at the source, and what it divided among its tasks."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final, Generic, TypeVar

from copycat_connect.errors import CopycatError, RetriableError
from copycat_connect.plugin import ConnectorContext

T = TypeVar("T")
#: Who asks for tasks waits so long, well below any sensible `plugin.call.timeout.ms`; then asks again.
_FIRST_LOOK_SECONDS: Final = 5.0


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
