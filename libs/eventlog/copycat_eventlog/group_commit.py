"""Group commit: appends that wait share one transaction, in a thread of its own."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial, reduce
from typing import Protocol

from copycat_connect.errors import CopycatError, DataError, NotWriterError, OutcomeUnknownError

from copycat_eventlog.append import MAX_RECORD_BYTES, Transaction
from copycat_eventlog.log import Record, Revision

#: Appends share a transaction up to this; one append may hold more.
MAX_GROUPED_RECORDS = 500
#: For finishing a transaction while stopping.
CLOSE_TIMEOUT_SECONDS = 5.0


class FencedProducer(Protocol):
    """A producer that no other one of its id outlives; its calls block. See `TransactionalProducer`."""

    def claim(self) -> None:
        """Fence every former producer of the log: what they write from now on is refused (I3)."""
        ...

    def commit(self, transaction: Transaction, begin_commit: Callable[[], object]) -> str | None:
        """Write and commit; return None, or why that failed."""
        ...

    def discard(self) -> None:
        """Close the producer without waiting for what is still under way."""
        ...


@dataclass(eq=False, slots=True)
class Append:
    """Records that belong together, and their caller."""

    records: Sequence[Record]
    done: asyncio.Future[Revision]


@dataclass(eq=False, slots=True)
class Batch:
    """The appends of one transaction."""

    appends: Sequence[Append]
    transaction: Transaction
    seen: bool = False
    """Whether a reader of committed records met it."""

    @property
    def end(self) -> Revision:
        """Position after its last record in each partition."""
        return reduce(Revision.merge, map(Revision, self.transaction.ends), Revision.ZERO)

    def succeed(self) -> None:
        """Give every caller the position after its records."""
        for append, end in zip(self.appends, self.transaction.ends, strict=True):
            if not append.done.done():
                append.done.set_result(Revision(end))

    def fail(self, error: CopycatError) -> None:
        """Raise the error in every caller whose records were to be written."""
        for append in self.appends:
            _fail(append, error)


class GroupCommit:
    """The queue in front of a producer."""

    def __init__(
        self,
        connect: Callable[[], FencedProducer],
        on_commit: Callable[[Batch], None],
        on_loss: Callable[[Batch, str], None],
    ) -> None:
        """Build it.

        Args:
            connect: Makes a producer; called in the thread.
            on_commit: Called in the event loop right before a batch is committed.
            on_loss: Called in the event loop when a batch failed and the producer is gone, to settle it.
        """
        self._connect = connect
        self._on_commit = on_commit
        self._on_loss = on_loss
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="append")
        self._producer: FencedProducer | None = None
        self._queue: deque[Append] = deque()
        self._flying: Batch | None = None
        self._work = asyncio.Event()

    async def claim(self) -> None:
        """Get a producer, fencing all others.

        Raises:
            UnavailableError: That failed.
        """
        self.release()
        self._producer = await asyncio.get_running_loop().run_in_executor(self._thread, self._claim)

    def release(self) -> None:
        """Let the producer go and fail what is queued."""
        producer, self._producer = self._producer, None
        if producer is not None:
            self._thread.submit(producer.discard)
        appends, self._queue = self._queue, deque()
        for append in appends:
            _fail(append, _not_writer("the log changed hands"))

    async def append(self, records: Sequence[Record]) -> Revision:
        """Queue the records and wait until they are committed.

        Raises:
            NotWriterError: Nothing was appended.
            OutcomeUnknownError: They may have been.
            DataError: A record is too large.
        """
        for record in records:
            size = len(record.key) + len(record.value or b"")
            if size > MAX_RECORD_BYTES:
                raise DataError(f"A record of {size} bytes is more than the {MAX_RECORD_BYTES} that fit")
        if self._producer is None:
            raise _not_writer("this instance does not own the log")
        append = Append(records, asyncio.get_running_loop().create_future())
        self._queue.append(append)
        self._work.set()
        return await append.done

    async def run(self) -> None:
        """Commit what is queued, for ever."""
        loop = asyncio.get_running_loop()
        while True:
            await self._work.wait()
            self._work.clear()
            while self._queue and (producer := self._producer) is not None:
                self._flying = batch = self._take()
                begin_commit: Callable[[], object] = partial(
                    loop.call_soon_threadsafe, self._on_commit, batch
                )
                failure = await loop.run_in_executor(
                    self._thread, producer.commit, batch.transaction, begin_commit
                )
                if failure is None:
                    batch.succeed()
                    continue
                if self._producer is producer:
                    self.release()
                self._on_loss(batch, failure)

    async def close(self) -> None:
        """Finish the transaction under way, fail what is queued, end the thread."""
        self.release()
        try:
            async with asyncio.timeout(CLOSE_TIMEOUT_SECONDS):
                await asyncio.get_running_loop().run_in_executor(self._thread, lambda: None)
        except TimeoutError:
            if self._flying is not None:
                message = "The records may or may not have been appended: the service stopped"
                self._flying.fail(OutcomeUnknownError(message))
        self._thread.shutdown(wait=False)

    def _claim(self) -> FencedProducer:
        producer = self._connect()
        try:
            producer.claim()
        except CopycatError:
            producer.discard()
            raise
        return producer

    def _take(self) -> Batch:
        appends = [self._queue.popleft()]
        size = len(appends[0].records)
        while self._queue and size + len(self._queue[0].records) <= MAX_GROUPED_RECORDS:
            appends.append(self._queue.popleft())
            size += len(appends[-1].records)
        return Batch(appends, Transaction([append.records for append in appends]))


def _not_writer(reason: str) -> NotWriterError:
    return NotWriterError(f"Nothing was appended: {reason}")


def _fail(append: Append, error: CopycatError) -> None:
    if not append.done.done():
        append.done.set_exception(error)
