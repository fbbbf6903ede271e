"""Child processes of an executor: calls while they start or end, lines that are no messages, queries."""

from __future__ import annotations

import asyncio
import json
import logging
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from copycat.host.v1 import host_service_pb2 as pb
from copycat_connect.errors import ConnectError
from copycat_executor.background import BackgroundJobs, ChangeSignal
from copycat_executor.children import child_process, piped_process
from copycat_executor.children.connector_process import ConnectorProcess
from copycat_executor.children.connector_processes import ConnectorProcesses
from copycat_executor.children.open_calls import OpenCall, OpenCalls
from copycat_executor.children.query_engine import Queries
from copycat_executor.children.template import Template
from copycat_executor.connectors.connector_calls import ConnectorCalls
from copycat_executor.domain.errors import PluginHangsError, PluginProcessGoneError
from copycat_executor.metrics.worker_meter import WorkerMeter
from copycat_executor.pipes.connector_messages import (
    BeginConnectors,
    ConnectorCall,
    MakeTaskConfigs,
    StopConnector,
    ValidateConfig,
)
from copycat_executor.pipes.lines import to_line
from copycat_executor.pipes.messages import Ask, Ping, T
from copycat_executor.pipes.query_messages import BeginQueries
from copycat_executor.state.runs import ConnectorStart, Runs
from copycat_telemetry.metrics.sampled import Windows

from tests.contract.executor.world import AUTHOR, SOURCE, world

PATIENCE = 60.0


@pytest.fixture
async def jobs(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[BackgroundJobs]:
    monkeypatch.setenv("PYTHONPATH", str(AUTHOR))
    found = BackgroundJobs()
    yield found
    await found.close()


async def running(jobs: BackgroundJobs) -> ConnectorProcess:
    template = Template({})
    process = ConnectorProcess(template.copy)
    jobs.spawn(template.run(), "template")
    jobs.spawn(process.run(), "process of connectors")
    await asyncio.wait_for(template.loaded(), PATIENCE)
    return process


async def test_a_connector_that_was_never_begun_is_stopped_without_a_failure(jobs: BackgroundJobs) -> None:
    process = await running(jobs)
    await process.call(StopConnector(1), "stopping", PATIENCE, start_counts=True)


async def test_of_many_calls_that_take_long_one_asks_whether_the_process_lives(
    jobs: BackgroundJobs, monkeypatch: pytest.MonkeyPatch
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

    def __init__(self, jobs: BackgroundJobs) -> None:
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


async def test_a_connector_whose_process_ends_right_after_it_has_started_starts_again(
    jobs: BackgroundJobs,
) -> None:
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


async def test_a_process_that_dies_before_anybody_listens_is_started_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    jobs, process = BackgroundJobs(), Template({})
    jobs.spawn(process.run(), "process of the connectors")
    try:
        async with asyncio.timeout(60):
            await process.loaded()
            with caplog.at_level(logging.WARNING):
                process.kill()
                await process.loaded()
        assert "the process of the connectors ended (exit code -9) and is started again" in caplog.text
        crash = asyncio.create_task(jobs.crashed())
        done, _ = await asyncio.wait((crash,), timeout=0)
        crash.cancel()
        assert not done
    finally:
        await jobs.close()


WAIT_SECONDS = 60
BAD_LINES = {
    "not JSON": (b"a secret\n", "JSON is malformed"),
    "not in UTF-8": (b'{"type":"\xff"}\n', "utf-8"),
    "of no type": (b'{"event":"ready"}\n', "missing required field `type`"),
    "of an unknown type": (b'{"type":"Surprise"}\n', "Invalid value 'Surprise' - at `$.type`"),
    "with an unknown field": (b'{"type":"Ready","x":"a secret"}\n', "unknown field `x`"),
    "with a wrong field": (b'{"type":"PluginLoading","entry_point":1}\n', "got `int` - at `$.entry_point`"),
    "too long": (b"x" * 300_000 + b"\n", "it is longer than 200000 bytes"),
}


@asynccontextmanager
async def started_again(bad: bytes, folder: Path, patch: pytest.MonkeyPatch) -> AsyncIterator[None]:
    """Run a child that begins with these bytes until the one in its place is ready."""
    line = folder / "bad"
    line.write_bytes(bad)
    patch.setenv("PYTHONPATH", str(AUTHOR))
    patch.setenv("COPYCAT_BAD_LINE", str(line))
    patch.setattr(piped_process, "MAX_LINE_BYTES", 200_000)
    jobs, process = BackgroundJobs(), Template({}, module="copycat_fake_child")
    jobs.spawn(process.run(), "process of the connectors")
    ready, crash = asyncio.create_task(process.loaded()), asyncio.create_task(jobs.crashed())
    try:
        await asyncio.wait((ready, crash), return_when=asyncio.FIRST_COMPLETED, timeout=WAIT_SECONDS)
        assert not crash.done(), f"the executor crashed: {crash.result()!r}"
        assert ready.done()
        yield
    finally:
        ready.cancel()
        crash.cancel()
        await jobs.close()


@pytest.mark.parametrize("kind", BAD_LINES)
async def test_a_child_that_writes_what_is_no_message_is_ended_and_replaced(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    bad, reason = BAD_LINES[kind]
    with caplog.at_level(logging.WARNING):
        async with started_again(bad, tmp_path, monkeypatch):
            pass

    assert "the process of the connectors is ended: its line is not a message" in caplog.text
    assert reason in caplog.text
    assert "secret" not in caplog.text


async def test_a_child_that_dies_in_the_middle_of_a_line_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("COPYCAT_THEN_END", "yes")
    with caplog.at_level(logging.WARNING):
        async with started_again(b'{"type":"Rea', tmp_path, monkeypatch):
            pass

    assert "(it was cut short after 12 bytes)" in caplog.text


@pytest.mark.parametrize(
    ("module", "lines"),
    [
        ("copycat_executor.connectorhost", b'{"worker":{"x":"a secret"}}\n'),
        ("copycat_executor.connectorhost", to_line(BeginConnectors({}, {})) + b"a secret\n"),
        ("copycat_executor.connectorhost", to_line(BeginConnectors({}, {})) + b'{"type":"Ask"'),
        ("copycat_executor.queryengine", to_line(BeginConnectors({"x": "a secret"}, {}))),
        ("copycat_fake_engine", to_line(BeginQueries({})) + to_line(Ask(1, MakeTaskConfigs(1, 1)))),
    ],
    ids=[
        "first line",
        "not JSON",
        "cut short",
        "first line of an engine",
        "message of the other conversation",
    ],
)
def test_a_child_that_reads_what_is_no_message_ends_with_a_word_in_its_log(
    module: str, lines: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(AUTHOR))
    ended = subprocess.run(
        (sys.executable, "-m", module), input=lines, capture_output=True, timeout=WAIT_SECONDS, check=False
    )

    said = ended.stderr.decode()
    assert ended.returncode == 3, said
    assert json.loads(said.splitlines()[-1])["message"].startswith("the executor wrote a line that is not a")
    assert "secret" not in said


@pytest.mark.parametrize(
    ("behaviour", "named"),
    [
        ("number", "The value of index in the configuration of task 0 is of type int"),
        ("no map", "The configuration of task 1 is of type str"),
        ("number as key", "The key 5 in the configuration of task 0 is of type int"),
        ("half a pair", "The configuration of task 0 has a value of 'file' that UTF-8 cannot hold"),
    ],
)
async def test_task_configurations_that_are_no_texts_are_refused_by_their_place(
    behaviour: str, named: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        async with world() as it:
            it.config.put("orders", {**SOURCE, "on.task.configs": behaviour})
            it.scheduler.assign(it.worker, "orders")
            await it.until(lambda: named in caplog.text, "a warning that names the place")
            it.config.put("orders", SOURCE)
            await it.until(lambda: len(it.config.published) == 1)


async def test_an_error_whose_message_is_no_text_is_passed_on_all_the_same() -> None:
    async with world() as it:
        it.config.put("orders", {**SOURCE, "on.start": "raise an error for a message"})
        it.scheduler.assign(it.worker, "orders")
        await it.status_is("FAILED", "orders")
        assert "bytes \\udcff in a name" in it.status.trace("orders")


@asynccontextmanager
async def engine(deadline: float = 10.0) -> AsyncIterator[Queries]:
    jobs = BackgroundJobs()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(AUTHOR))
        try:
            yield Queries({}, jobs, module="copycat_fake_engine", deadline_seconds=deadline)
        finally:
            await jobs.close()


async def test_a_host_is_answered_rows_schemas_and_refusals() -> None:
    async with engine() as queries:
        ran = await queries.answer(pb.QueryWanted(sequence=1, sql="run", batch=b"abc"))
        prepared = await queries.answer(pb.QueryWanted(sequence=2, sql="prepare"))
        refused = await queries.answer(pb.QueryWanted(sequence=3, sql="refuse because"))

    assert (ran.sequence, ran.rows, ran.error) == (1, b"cba", "")
    assert (prepared.sequence, prepared.schema[:8], prepared.error) == (2, "made_by_", "")
    assert (refused.sequence, refused.error, refused.error_code) == (3, "because", "config.invalid")


async def test_one_engine_serves_all_queries_one_after_the_other() -> None:
    async with engine() as queries:
        assert await queries.prepare("a", "") == await queries.prepare("b", "")


async def test_a_query_that_hangs_is_ended_with_its_engine_and_the_next_one_runs() -> None:
    async with engine(deadline=1.0) as queries:
        before = await queries.prepare("a", "")
        with pytest.raises(ConnectError, match="did not finish within 1 s and was ended"):
            await queries.prepare("hang", "")
        assert await queries.prepare("a", "") != before


async def test_a_query_whose_engine_is_killed_is_run_again_by_another(tmp_path: Path) -> None:
    async with engine() as queries:
        before = await queries.prepare("a", "")
        after = await queries.prepare(f"die-once {tmp_path / 'died'}", "")
    assert before != after


async def test_a_query_that_kills_every_engine_fails_and_others_go_on() -> None:
    async with engine() as queries:
        with pytest.raises(ConnectError, match="ended during the query, more than once"):
            await queries.prepare("die", "")
        assert await queries.run("run", "", b"ab") == b"ba"
