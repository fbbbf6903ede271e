"""Notice that what was committed cannot be read: a transaction that nobody ends is in front of it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from copycat_connect.errors import UnavailableError

from copycat_eventlog.log import Revision

#: After a commit; what it wrote is there to be read within milliseconds.
OVERDUE_SECONDS: Final = 15.0


class Overdue:
    """Looks some time after appends, and only then: a log that is idle costs nothing."""

    def __init__(
        self,
        position: Callable[[], Revision],
        readable_end: Callable[[], Awaitable[Revision]],
        on_overdue: Callable[[], None],
        after: float = OVERDUE_SECONDS,
    ) -> None:
        """Build it.

        Args:
            position: What was read.
            readable_end: Asks the brokers for the end of what can be read; may raise UnavailableError.
            on_overdue: Called when records that were committed `after` seconds ago cannot be read.
            after: Seconds between a commit and the look.
        """
        self._position = position
        self._readable_end = readable_end
        self._on_overdue = on_overdue
        self._after = after
        self._committed = Revision.ZERO
        self._appended = asyncio.Event()

    def committed(self, revision: Revision) -> None:
        """Expect that everything up to a revision is read soon."""
        self._committed = self._committed.merge(revision)
        self._appended.set()

    async def run(self) -> None:
        """Look, for ever."""
        while True:
            await self._appended.wait()
            self._appended.clear()
            expected = self._committed
            await asyncio.sleep(self._after)
            if self._position().covers(expected):
                continue
            try:
                readable = await self._readable_end()
            except UnavailableError:
                self._appended.set()  # nobody can say: look again
                continue
            if not readable.covers(expected):
                self._on_overdue()
