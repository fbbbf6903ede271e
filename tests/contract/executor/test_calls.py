"""Calls into the process of the connectors while it starts, answers slowly, or ends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from copycat_executor.background import ChangeSignal, Jobs
from copycat_executor.children import child_process
from copycat_executor.children.connector_process import ConnectorProcess
from copycat_executor.children.connector_processes import ConnectorProcesses
from copycat_executor.children.open_calls import OpenCall, OpenCalls
from copycat_executor.children.template import Template
from copycat_executor.connectors.connector_calls import ConnectorCalls
from copycat_executor.domain.errors import PluginHangsError, PluginProcessGoneError
from copycat_executor.metrics.worker_meter import WorkerMeter
from copycat_executor.pipes.connector_messages import ConnectorCall, StopConnector, ValidateConfig
from copycat_executor.pipes.messages import Ping, T
from copycat_executor.state.runs import ConnectorStart, Runs
from copycat_telemetry.metrics.sampled import Windows

from tests.contract.executor.world import AUTHOR, SOURCE

PATIENCE = 60.0


@pytest.fixture
async def jobs(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Jobs]:
    monkeypatch.setenv("PYTHONPATH", str(AUTHOR))
    found = Jobs()
    yield found
    await found.close()


async def running(jobs: Jobs) -> ConnectorProcess:
    template = Template({})
    process = ConnectorProcess(template.copy)
    jobs.spawn(template.run(), "template")
    jobs.spawn(process.run(), "process of connectors")
    await asyncio.wait_for(template.loaded(), PATIENCE)
    return process


async def test_a_connector_that_was_never_begun_is_stopped_without_a_failure(jobs: Jobs) -> None:
    process = await running(jobs)
    await process.call(StopConnector(1), "stopping", PATIENCE, start_counts=True)


async def test_of_many_calls_that_take_long_one_asks_whether_the_process_lives(
    jobs: Jobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(child_process, "PING_AFTER_SECONDS", 0.1)
    at_once, add = [], OpenCalls.add

    def noted(self: OpenCalls, call: OpenCall[Any]) -> None:
        add(self, call)
        at_once.append(sum(isinstance(each.call, Ping) for each in self._open.values()))

    monkeypatch.setattr(OpenCalls, "add", noted)
    process = await running(jobs)
    hangs = ValidateConfig({"name": "hangs", **SOURCE, "on.validate": "hang"})
    calls = [process.call(hangs, "validating", 1.0, start_counts=True) for _ in range(15)]
    ends = await asyncio.gather(*calls, return_exceptions=True)
    assert {type(each) for each in ends} == {PluginHangsError}
    assert 1 <= max(at_once) <= 2, "one for the calls, one for a process that nobody calls"


class EndsAfterTheAnswer(ConnectorProcesses):
    """Its process ends, once, before whoever called has taken the answer to its first call."""

    def __init__(self, jobs: Jobs) -> None:
        super().__init__({}, jobs)
        self.gone = asyncio.Event()

    async def call(self, connector: str, call: ConnectorCall[T], stage: str, deadline_seconds: float) -> T:
        answer = await super().call(connector, call, stage, deadline_seconds)
        if not self.gone.is_set():
            assert self._shared.process is not None
            self._shared.process.kill()
            await self.gone.wait()
        return answer

    def _ended(self, *given: Any) -> PluginProcessGoneError:
        self.gone.set()
        return super()._ended(*given)


async def test_a_connector_whose_process_ends_right_after_it_has_started_starts_again(jobs: Jobs) -> None:
    processes = EndsAfterTheAnswer(jobs)
    jobs.spawn(processes.run(), "process of the connectors")
    calls = ConnectorCalls(processes, PATIENCE)
    start = ConnectorStart(
        Runs(ChangeSignal(), WorkerMeter(Windows(), clock=lambda: 0.0, wall=lambda: 0.0)).connector("orders"),
        {"name": "orders", **SOURCE},
        1,
    )
    await asyncio.wait_for(calls.start(start), PATIENCE)
    assert processes.gone.is_set()
    assert await calls.task_configs(start, 1)
