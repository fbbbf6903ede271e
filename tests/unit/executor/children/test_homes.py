"""Where connectors run that hung: apart from others, in a bounded number of processes."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest
from copycat_executor.background import Jobs
from copycat_executor.children.connector_process import ProcessEnd
from copycat_executor.children.connector_processes import DEATHS_TO_PART, MAX_APART, ConnectorProcesses
from copycat_executor.domain import deaths


class CountedJobs(Jobs):
    """Knows how many processes were begun."""

    def __init__(self) -> None:
        super().__init__()
        self.begun = 0

    def spawn(self, job: Coroutine[Any, Any, Any], name: str = "") -> asyncio.Task[Any]:
        self.begun += 1
        return super().spawn(job, name)


async def hang_together(processes: ConnectorProcesses, names: list[str]) -> None:
    for name in names:
        processes.enter(name)
    for name in names:
        processes.leave(name, None, hung=True)


async def test_connectors_that_hang_together_share_a_bounded_number_of_processes() -> None:
    jobs, names = CountedJobs(), [f"c{each}" for each in range(100)]
    processes = ConnectorProcesses({}, jobs)
    try:
        for _ in range(2):
            await hang_together(processes, names)
            jobs.begun = 0
            for name in names:
                processes.enter(name)
            assert jobs.begun <= MAX_APART
    finally:
        await jobs.close()


async def test_a_connector_that_hung_long_ago_runs_with_the_others_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    jobs = CountedJobs()
    processes = ConnectorProcesses({}, jobs)
    try:
        await hang_together(processes, ["orders"])
        monkeypatch.setattr(deaths, "MEMORY_SECONDS", 0.0)
        jobs.begun = 0
        for name in ("orders", "others"):
            processes.enter(name)
        assert jobs.begun == 1, "they share"
    finally:
        await jobs.close()


async def test_connectors_that_wait_for_their_process_are_not_suspected_of_its_end() -> None:
    jobs, names = CountedJobs(), ["a", "b"]
    processes = ConnectorProcesses({}, jobs)
    try:
        for _ in range(DEATHS_TO_PART):
            for name in names:
                processes.enter(name)
            processes._ended(processes._shared, ProcessEnd("", frozenset(), frozenset(), False, served=False))
            jobs.begun = 0
        for name in names:
            processes.enter(name)
        assert jobs.begun == 0, "they share again"
    finally:
        await jobs.close()
