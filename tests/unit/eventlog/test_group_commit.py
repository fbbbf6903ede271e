"""Appends that share transactions, and what becomes of those that fail."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
from copycat_connect.errors import DataError, NotWriterError, OutcomeUnknownError
from copycat_eventlog.append import MAX_RECORD_BYTES, Transaction
from copycat_eventlog.group_commit import Batch, GroupCommit
from copycat_eventlog.log import Entry, Record, Revision
from copycat_eventlog.outcome import CommitOutcomes
from copycat_testkit.eventually import eventually


class Producer:
    """A broker of one partition in the producer's stead."""

    def __init__(self) -> None:
        self.offset = 0
        self.sizes: list[int] = []
        self.gate = threading.Event()
        self.gate.set()
        self.failure: str | None = None
        self.writes = True
        self.discarded = False

    def claim(self) -> None: ...

    def commit(self, transaction: Transaction, begin_commit: Callable[[], object]) -> str | None:
        assert self.gate.wait(10)
        if not self.writes:
            return self.failure
        transaction.first = (0, self.offset)
        for group in transaction.groups:
            self.offset += len(group)
            transaction.ends.append({0: self.offset})
        self.sizes.append(sum(map(len, transaction.groups)))
        begin_commit()
        return self.failure

    def discard(self) -> None:
        self.discarded = True


class Fold:
    """How far a reader of committed records has come."""

    def __init__(self) -> None:
        self.revision = Revision.ZERO
        self.moved = asyncio.Event()

    async def reached(self, revision: Revision) -> None:
        while not self.revision.covers(revision):
            self.moved.clear()
            await self.moved.wait()

    def to(self, offset: int) -> None:
        self.revision = Revision({0: offset})
        self.moved.set()


class Bench:
    """A group commit on a producer and a fold that do as the test says."""

    def __init__(self) -> None:
        self.producer, self.fold = Producer(), Fold()
        self.outcomes = CommitOutcomes(self.fold.reached, patience=0.05)
        self.lost: list[str] = []
        self.group = GroupCommit(lambda: self.producer, self.outcomes.committing, self._on_loss)

    def _on_loss(self, batch: Batch, reason: str) -> None:
        self.lost.append(reason)
        self.outcomes.failed(batch, reason)

    def append(self, *keys: bytes) -> asyncio.Task[Revision]:
        return asyncio.create_task(self.group.append([Record(key, b"v") for key in keys]))


@asynccontextmanager
async def bench() -> AsyncIterator[Bench]:
    built = Bench()
    await built.group.claim()
    task = asyncio.create_task(built.group.run())
    try:
        yield built
    finally:
        built.producer.gate.set()
        await built.group.close()
        task.cancel()


async def test_what_waits_shares_one_transaction() -> None:
    async with bench() as it:
        it.producer.gate.clear()
        appends = [it.append(b"a", b"b") for _ in range(300)]
        await eventually(lambda: not appends[0].done())
        it.producer.gate.set()
        revisions = await asyncio.gather(*appends)
        assert revisions[-1] == Revision({0: 600})
        assert max(it.producer.sizes) == 500
        assert len(it.producer.sizes) <= 3


async def test_a_record_too_large_is_refused_alone() -> None:
    async with bench() as it:
        with pytest.raises(DataError, match="more than"):
            await it.group.append([Record(b"a", b"v" * MAX_RECORD_BYTES)])
        assert await it.append(b"a") == Revision({0: 1})


async def test_what_was_not_written_had_no_effect() -> None:
    async with bench() as it:
        it.producer.writes, it.producer.failure = False, "the brokers are away"
        with pytest.raises(NotWriterError, match="the brokers are away"):
            await it.append(b"a")
        await eventually(lambda: it.producer.discarded)
        with pytest.raises(NotWriterError):
            await it.append(b"b")


async def test_what_is_queued_behind_a_failure_had_no_effect() -> None:
    async with bench() as it:
        it.producer.gate.clear()
        first = it.append(b"a")
        await asyncio.sleep(0)
        it.producer.writes, it.producer.failure = False, "fenced"
        rest = [it.append(b"b") for _ in range(3)]
        await asyncio.sleep(0)
        it.producer.gate.set()
        errors = await asyncio.gather(first, *rest, return_exceptions=True)
        assert [type(error) for error in errors] == [NotWriterError] * 4
        assert it.producer.sizes == []


async def test_a_failed_commit_that_took_effect_succeeds() -> None:
    async with bench() as it:
        it.producer.failure = "no answer"
        append = it.append(b"a")
        await eventually(lambda: bool(it.lost))
        it.outcomes.folded([Entry(0, 0, Record(b"a", b"v"))])
        it.fold.to(2)
        assert await append == Revision({0: 1})


async def test_a_failed_commit_that_was_aborted_had_no_effect() -> None:
    async with bench() as it:
        it.producer.failure = "no answer"
        append = it.append(b"a")
        await eventually(lambda: bool(it.lost))
        it.fold.to(2)
        with pytest.raises(NotWriterError, match="no answer"):
            await append


async def test_a_failed_commit_that_nobody_can_look_up_is_of_unknown_outcome() -> None:
    async with bench() as it:
        it.producer.failure = "no answer"
        with pytest.raises(OutcomeUnknownError, match="no answer"):
            await it.append(b"a")
        await it.outcomes.settled()


async def test_who_does_not_own_the_log_appends_nothing() -> None:
    async with bench() as it:
        it.group.release()
        with pytest.raises(NotWriterError):
            await it.append(b"a")
