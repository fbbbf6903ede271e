"""Lines that are not messages, from either end of a pipe: that child process ends, and nothing else does."""

from __future__ import annotations

import asyncio
import json
import logging
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from copycat_executor.background import Jobs
from copycat_executor.children import piped_process
from copycat_executor.children.template import Template
from copycat_executor.pipes.connector_messages import BeginConnectors, MakeTaskConfigs
from copycat_executor.pipes.lines import to_line
from copycat_executor.pipes.messages import Ask
from copycat_executor.pipes.query_messages import BeginQueries

from tests.contract.executor.world import SOURCE, world

AUTHOR = Path(__file__).with_name("author")
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
    jobs, process = Jobs(), Template({}, module="copycat_fake_child")
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
