"""What connectors and tasks of a worker do is a line of the log each time it changes."""

from __future__ import annotations

import logging
from functools import partial
from typing import Any

import pytest
from copycat.types.v1 import types_pb2

from tests.contract.executor import world as worlds

world = partial(worlds.world, connectors=False)


@pytest.fixture(autouse=True)
def at_info(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="copycat_executor")


def lines(caplog: pytest.LogCaptureFixture, start: str = "task ") -> list[dict[str, Any]]:
    """The changes so far whose text starts so, each with its fields."""
    return [
        {"what": record.getMessage(), "level": record.levelname, **record.__dict__["fields"]}
        for record in caplog.records
        if record.getMessage().startswith(start) and "fields" in record.__dict__
    ]


async def test_a_task_that_starts_pauses_and_fails_is_a_line_each(caplog: pytest.LogCaptureFixture) -> None:
    async with world() as it:
        generation = await it.run_task()
        host = it.launcher.of("orders-0")
        ref = host.started[-1].task
        host.state(ref, types_pb2.STATE_PAUSED)
        await it.status_is("PAUSED", "orders", 0)
        host.state(ref, types_pb2.STATE_FAILED, trace="copycat.Broken: no more\n\tat secret place")
        await it.status_is("FAILED", "orders", 0)
        found = [each for each in lines(caplog) if "task" in each and "host" not in each]

    about = {"connector": "orders", "task": 0, "worker": it.worker, "generation": generation}
    assert found == [
        {"what": "task is running", "level": "INFO", **about},
        {"what": "task is paused", "level": "INFO", **about},
        {"what": "task has failed", "level": "ERROR", **about, "why": "copycat.Broken: no more"},
    ]


async def test_a_host_that_dies_is_a_warning_and_one_that_is_launched_a_line(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with world() as it:
        await it.run_task()
        first = it.launcher.of("orders-0")
        first.die("killed for the test")
        await it.until(lambda: it.launcher.of("orders-0") is not first)
        hosts = lines(caplog, "task host")

    assert [(each["what"], each["level"]) for each in hosts[:3]] == [
        ("task host launched", "INFO"),
        ("task host died", "WARNING"),
        ("task host launched", "INFO"),
    ]
    assert hosts[1]["why"] == "killed for the test"
