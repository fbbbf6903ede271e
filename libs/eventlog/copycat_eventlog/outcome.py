"""The outcome of a commit that failed: found out by reading, not by guessing."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from copycat_connect.errors import NotWriterError, OutcomeUnknownError, UnavailableError

from copycat_eventlog.group_commit import Batch
from copycat_eventlog.log import Entry, Revision

#: For learning what became of a commit; longer than brokers keep a transaction open that nobody ends.
FIND_OUT_TIMEOUT_SECONDS = 30.0
#: One batch is under way, the others are in doubt.
MAX_WATCHED_BATCHES = 8


class CommitOutcomes:
    """Watches the fold for the batches that are being committed.

    A transaction is visible as a whole or not at all, so seeing one of its records is enough.
    """

    def __init__(
        self, reached: Callable[[Revision], Awaitable[None]], patience: float = FIND_OUT_TIMEOUT_SECONDS
    ) -> None:
        """Build it; `reached` waits until committed records up to a revision were folded."""
        self._reached = reached
        self._patience = patience
        self._recent: dict[tuple[int, int], Batch] = {}
        self._doubts: set[asyncio.Task[None]] = set()

    def committing(self, batch: Batch) -> None:
        """Look out for a batch; called before a reader can meet it."""
        if batch.transaction.first is not None:
            self._recent[batch.transaction.first] = batch
        if len(self._recent) > MAX_WATCHED_BATCHES:
            del self._recent[next(iter(self._recent))]

    def folded(self, entries: Sequence[Entry]) -> None:
        """Read what a reader met."""
        if not self._recent:
            return
        for entry in entries:
            batch = self._recent.get((entry.partition, entry.offset))
            if batch is not None:
                batch.seen = True

    def failed(self, batch: Batch, reason: str) -> None:
        """Settle a batch whose commit failed, at once or as soon as it is known what became of it."""
        if batch.transaction.first is None:
            batch.fail(NotWriterError(f"Nothing was appended: {reason}"))
            return
        doubt = asyncio.create_task(self._find_out(batch, batch.transaction.first, reason))
        self._doubts.add(doubt)
        doubt.add_done_callback(self._doubts.discard)

    async def shown(self) -> None:
        """Wait until the last batch was folded."""
        if self._recent:
            await self._reached(next(reversed(self._recent.values())).end)

    async def settled(self) -> None:
        """Wait until nothing is in doubt."""
        if self._doubts:
            await asyncio.wait(tuple(self._doubts))

    async def _find_out(self, batch: Batch, place: tuple[int, int], reason: str) -> None:
        partition, offset = place
        try:
            async with asyncio.timeout(self._patience):
                await self._reached(Revision({partition: offset + 1}))
        except (TimeoutError, UnavailableError):
            batch.fail(OutcomeUnknownError(f"The records may or may not have been appended: {reason}"))
            return
        if batch.seen:
            batch.succeed()
        else:  # the reader has passed its place: it was aborted
            batch.fail(NotWriterError(f"Nothing was appended: {reason}"))
