"""What a mirror's connector found at its last look at the source, and what it divided among its tasks."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final, Generic, TypeVar

from copycat_connect.errors import ConnectError, RetriableError
from copycat_connect.plugin.contexts import ConnectorContext

T = TypeVar("T")
_FIRST_LOOK_SECONDS: Final = 15.0


class Watch(Generic[T]):
    """Looks again and again, in the thread of the connector's jobs, and asks for new tasks on a change.

    The first look may fail for good: then so does the connector. A later one that fails is tried again.
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
        self._error: ConnectError | None = None

    @property
    def looked(self) -> bool:
        """True once a look has succeeded."""
        return self._found is not None

    def give(self, nothing: T) -> T:
        """Return what tasks are divided over, and remember it; `nothing` when the first look takes long.

        Raises:
            ConnectError: The first look failed.
        """
        self._looked.wait(_FIRST_LOOK_SECONDS)
        if self._error is not None:
            raise self._error
        self._given = nothing if self._found is None else self._found
        return self._given

    def look(self) -> None:
        """Look once.

        Raises:
            ConnectError: It failed, and is to be tried again.
        """
        try:
            found = self._look()
        except RetriableError:
            raise
        except ConnectError as error:
            if self.looked:
                raise
            self._error = error
            self._looked.set()
            if self._given is not None:
                self._context().raise_error(error)
            return
        self._found = found
        self._looked.set()
        if self._given is not None and found != self._given:
            self._changed(found)
            self._context().request_task_reconfiguration()
