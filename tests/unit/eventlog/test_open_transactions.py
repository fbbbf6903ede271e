"""A log that cannot be read to its end is no silent wait."""

from __future__ import annotations

import asyncio

import pytest
from copycat_eventlog.log import Revision
from copycat_eventlog.open_transactions import telling_what_holds_it_up
from copycat_testkit.eventually import eventually

END = Revision({0: 5, 1: 7})


async def wait_for(reached: asyncio.Event, position: Revision) -> None:
    async with telling_what_holds_it_up("offsets", lambda: position, END, every=0.01):
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

    async with telling_what_holds_it_up("offsets", moving, END, every=0.001):
        await reached.wait()

    assert not caplog.records
