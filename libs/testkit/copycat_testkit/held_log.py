"""A log whose appends wait until the test says what becomes of them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from copycat_connect.errors import CopycatError, NotWriterError
from copycat_eventlog.log import Fold, Log, Record, Revision


class HeldLog:
    """Wraps a log. Appends pass through unless held; held ones pass or fail in their order."""

    def __init__(self, log: Log) -> None:
        """Hold nothing yet."""
        self._log = log
        self._gate = asyncio.Event()
        self._gate.set()
        self._failure: CopycatError | None = None
        self._appears = False
        self.waiting = 0
        """Appends that are held."""

    def hold(self) -> None:
        """Hold every append from now on."""
        self._gate.clear()

    def pass_all(self) -> None:
        """Let all held appends through, and all later ones."""
        self._failure = None
        self._gate.set()

    def fail_all(self, error: CopycatError, *, appears: bool = False) -> None:
        """Fail the first held append with the error and the others as never appended.

        Args:
            error: For the first.
            appears: Whether the records of the first are in the log all the same.
        """
        self._failure, self._appears = error, appears
        self._gate.set()

    @property
    def name(self) -> str:
        """As the wrapped log says."""
        return self._log.name

    @property
    def leads(self) -> bool:
        """As the wrapped log says."""
        return self._log.leads

    @property
    def owns(self) -> bool:
        """As the wrapped log says."""
        return self._log.owns

    async def start(self, fold: Fold) -> None:
        """Start the log this one wraps."""
        await self._log.start(fold)

    async def lead(self, within: float) -> None:
        """Wait as the wrapped log does."""
        await self._log.lead(within)

    async def append(self, records: Sequence[Record]) -> Revision:
        """Hold the append until the test lets it through or fails it."""
        self.waiting += 1
        first = self.waiting == 1
        await self._gate.wait()
        self.waiting -= 1
        if self._failure is None:
            return await self._log.append(records)
        if not first:
            raise NotWriterError("Nothing was appended: an append before this one failed")
        if self._appears:
            await self._log.append(records)
        raise self._failure

    async def end(self) -> Revision:
        """Return the end of the log this one wraps."""
        return await self._log.end()

    async def lost(self) -> CopycatError:
        """Wait as the wrapped log does."""
        return await self._log.lost()

    async def crashed(self) -> BaseException:
        """Wait as the wrapped log does."""
        return await self._log.crashed()

    async def stop(self) -> None:
        """Stop the wrapped log; what is held fails."""
        if not self._gate.is_set():
            self.fail_all(NotWriterError("Nothing was appended: the log stopped"))
        await self._log.stop()
