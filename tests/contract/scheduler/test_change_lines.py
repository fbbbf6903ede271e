"""Workers that come and go, and who is given what, are lines of the log."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from tests.contract.scheduler.service import running


@pytest.fixture(autouse=True)
def at_info(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="copycat_scheduler")


def lines(caplog: pytest.LogCaptureFixture, *whats: str) -> list[dict[str, Any]]:
    """The changes of these kinds so far, each with its fields."""
    return [
        {"what": record.getMessage(), **record.__dict__["fields"]}
        for record in caplog.records
        if record.getMessage() in whats
    ]


async def test_a_worker_that_joins_and_what_it_is_given_are_lines(caplog: pytest.LogCaptureFixture) -> None:
    async with running(lease=60, orders=1) as cluster:
        await cluster.worker("w1").beat()
        await cluster.until_assigned(w1=2)

    assert lines(caplog, "worker joined") == [{"what": "worker joined", "worker": "w1"}]
    given = lines(caplog, "connector assigned", "task assigned")
    assert [(each["what"], each.get("task"), each["connector"], each["worker"]) for each in given] == [
        ("connector assigned", None, "orders", "w1"),
        ("task assigned", 0, "orders", "w1"),
    ]


async def test_a_lost_worker_and_where_its_task_moves_are_lines(caplog: pytest.LogCaptureFixture) -> None:
    async with running(lease=1.0, orders=1) as cluster:
        first = cluster.worker("w1")
        await first.beat()
        await first.hold(await cluster.until_assigned(w1=2))
        second = cluster.worker("w2")

        async def beaten() -> dict[Any, Any]:
            await second.beat()
            return await cluster.assigned()

        await cluster.eventually(
            beaten, lambda found: {each.worker_id for each in found.values()} == {"w2"}, "a move", timeout=60
        )

    (lost,) = lines(caplog, "worker is lost")
    assert (lost["worker"], lost["why"]) == ("w1", "nothing was heard of it for 1 s")
    moved = next(each for each in lines(caplog, "task moved") if each["worker"] == "w2")
    assert (moved["connector"], moved["task"], moved["former_worker"]) == ("orders", 0, "w1")


async def test_work_that_is_taken_away_says_why(caplog: pytest.LogCaptureFixture) -> None:
    async with running(a=1, b=1) as cluster:
        await cluster.worker("w1").beat()
        await cluster.until_assigned(w1=4)
        cluster.config.delete("a")
        await cluster.until_assigned(w1=2)

    taken = lines(caplog, "connector taken from its worker", "task taken from its worker")
    assert [(each["connector"], each["why"]) for each in taken] == [("a", "its connector was deleted")] * 2


async def test_a_worker_that_leaves_is_a_line(caplog: pytest.LogCaptureFixture) -> None:
    async with running(lease=60) as cluster:
        worker = cluster.worker("w1")
        await worker.beat()
        await worker.beat(leaving=True)
        worker.hang_up()
        await cluster.eventually(
            lambda: lines(caplog, "worker has left"), lambda found: found, "w1 has left", timeout=60
        )

    assert lines(caplog, "worker is leaving") == [{"what": "worker is leaving", "worker": "w1", "holds": 0}]
    assert lines(caplog, "worker is lost") == []
