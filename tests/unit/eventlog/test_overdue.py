"""What was committed and cannot be read is noticed; what is read late, or cannot be asked for, is not.

A log that cannot be read to its end is no silent wait.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest
from copycat_connect.errors import UnavailableError
from copycat_eventlog.forgotten_transactions import still_open
from copycat_eventlog.log import Revision
from copycat_eventlog.open_transactions import warning_of_open_transactions
from copycat_eventlog.overdue import Overdue
from copycat_testkit.eventually import eventually
from copycat_testkit.simulated import simulated

AFTER = 1.0


class Log:
    """How far it is read, and how far it can be read; None where no broker answers."""

    def __init__(self, read: int, readable: int | None) -> None:
        self.read = read
        self.readable = readable
        self.looks = 0
        self.alarms = 0
        self.overdue = Overdue(lambda: Revision({0: self.read}), self.readable_end, self.alarm, AFTER)

    async def readable_end(self) -> Revision:
        self.looks += 1
        if self.readable is None:
            raise UnavailableError("away")
        return Revision({0: self.readable})

    def alarm(self) -> None:
        self.alarms += 1


@asynccontextmanager
async def watched(log: Log) -> AsyncIterator[None]:
    watching = asyncio.create_task(log.overdue.run())
    try:
        yield
    finally:
        watching.cancel()


@simulated
async def test_records_that_cannot_be_read_are_overdue_once_for_each_append() -> None:
    log = Log(read=3, readable=3)
    async with watched(log):
        log.overdue.committed(Revision({0: 5}))
        await eventually(lambda: log.alarms == 1)
        await asyncio.sleep(5 * AFTER)
        assert log.alarms == 1
        log.overdue.committed(Revision({0: 6}))
        await eventually(lambda: log.alarms == 2)


@simulated
async def test_who_reads_slowly_is_not_overdue() -> None:
    log = Log(read=3, readable=5)
    async with watched(log):
        log.overdue.committed(Revision({0: 5}))
        await eventually(lambda: log.looks == 1)
        await asyncio.sleep(5 * AFTER)
    assert log.alarms == 0


@simulated
async def test_brokers_that_do_not_answer_are_asked_again() -> None:
    log = Log(read=3, readable=None)
    async with watched(log):
        log.overdue.committed(Revision({0: 5}))
        await eventually(lambda: log.looks >= 3)
        assert log.alarms == 0
        log.readable = 3
        await eventually(lambda: log.alarms == 1)


class Looks:
    """Ends as the brokers give them, look by look."""

    def __init__(self, *readable: dict[int, int]) -> None:
        self.readable: Iterator[dict[int, int]] = iter(readable)

    async def end(self) -> Revision:
        return Revision({0: 9, 1: 9, 2: 9})

    async def readable_end(self) -> Revision:
        return Revision(next(self.readable))


async def test_a_log_that_can_be_read_to_its_end_has_nothing_open() -> None:
    assert not await still_open(Looks({0: 9, 1: 12, 2: 9}))


@simulated
async def test_only_what_stands_still_is_open() -> None:
    looks = Looks({0: 9, 1: 4, 2: 5}, {0: 9, 1: 4, 2: 6})
    assert list(await still_open(looks, AFTER)) == [1]


END = Revision({0: 5, 1: 7})


async def wait_for(reached: asyncio.Event, position: Revision) -> None:
    async with warning_of_open_transactions("offsets", lambda: position, END, every=0.01):
        await reached.wait()


async def test_a_fold_that_stands_still_names_where_and_what_to_do(caplog: pytest.LogCaptureFixture) -> None:
    reached = asyncio.Event()
    waiting = asyncio.create_task(wait_for(reached, Revision({0: 5, 1: 3})))
    await eventually(lambda: bool(caplog.records))
    reached.set()
    await waiting

    told = str(vars(caplog.records[0]))
    assert "the log cannot be read to its end" in told
    assert "partition 1 from offset 3" in told
    assert "partition 0" not in told
    assert "kafka-transactions.sh abort" in told


async def test_a_fold_that_moves_on_is_no_news(caplog: pytest.LogCaptureFixture) -> None:
    moves = iter(range(1000))
    reached = asyncio.Event()

    def moving() -> Revision:
        offset = next(moves)
        if offset > 20:
            reached.set()
        return Revision({0: offset})

    async with warning_of_open_transactions("offsets", moving, END, every=0.001):
        await reached.wait()

    assert not caplog.records
