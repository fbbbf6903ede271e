"""Tasks in hosts on a real Spark, with a real Kafka: they copy, survive, pause, and drain."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from copycat.types.v1 import types_pb2
from copycat_testkit.kafka import consume_all, unique

from tests.integration.executor.executor_process import Peers, executor, file_source

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(240)]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def peers(kafka: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Peers]:
    """One executor for all tests of this file."""
    async with executor(kafka, tmp_path_factory.mktemp("executor")) as running:
        yield running


async def begin(peers: Peers, file: Path) -> str:
    """Have the executor copy a file to a topic; connector and topic share a name."""
    name = unique("copy")
    peers.config.put(name, file_source(file, name))
    peers.scheduler.assign(peers.worker, name)
    await peers.until(lambda: len(peers.config.tasks(name)) == 1, "tasks published")
    peers.scheduler.assign(peers.worker, name, 0)
    await peers.status_is("RUNNING", name, 0)
    return name


async def committed(peers: Peers, name: str, position: int) -> None:
    """Wait until the task has committed this position."""

    def holds() -> bool:
        offsets = [json.loads(offset) for (owner, _), offset in peers.offset.source.items() if owner == name]
        return offsets == [{"position": position}]

    await peers.until(holds, f"{name} committed {position}")


def lines(kafka: str, topic: str) -> list[str]:
    return [(message.value() or b"").decode() for message in consume_all(kafka, topic)]


async def test_a_source_task_copies_commits_and_names_its_topic(
    peers: Peers, kafka: str, tmp_path: Path
) -> None:
    file = tmp_path / "in.txt"
    file.write_text("a\nb\nc\n")
    name = await begin(peers, file)
    await committed(peers, name, 6)
    assert lines(kafka, name) == ["a", "b", "c"]
    assert peers.status.topics[(name, 0)] == {name}


async def test_a_killed_host_loses_nothing_and_its_task_goes_on_in_another(
    peers: Peers, kafka: str, tmp_path: Path
) -> None:
    file = tmp_path / "in.txt"
    file.write_text("a\n")
    name = await begin(peers, file)
    await committed(peers, name, 2)
    for host in peers.forked_hosts():
        host.kill()
    await peers.until(lambda: peers.status.states(name, 0).count("RUNNING") == 2, "started again")
    with file.open("a") as more:
        more.write("b\n")
    await committed(peers, name, 4)
    # Between the two it waits for a place on Spark; a status says so only where that lasts.
    assert [state for state in peers.status.states(name, 0) if state != "UNASSIGNED"] == ["RUNNING"] * 2
    assert set(lines(kafka, name)) == {"a", "b"}


async def test_a_paused_task_copies_nothing_until_it_is_resumed(
    peers: Peers, kafka: str, tmp_path: Path
) -> None:
    file = tmp_path / "in.txt"
    file.write_text("a\n")
    name = await begin(peers, file)
    await committed(peers, name, 2)
    peers.config.target(name, types_pb2.TARGET_STATE_PAUSED)
    await peers.status_is("PAUSED", name, 0)
    with file.open("a") as more:
        more.write("b\n")
    peers.config.target(name, types_pb2.TARGET_STATE_STARTED)
    await peers.status_is("RUNNING", name, 0)
    await committed(peers, name, 4)
    assert lines(kafka, name) == ["a", "b"]


async def test_statuses_are_true_within_two_seconds(peers: Peers, tmp_path: Path) -> None:
    file = tmp_path / "in.txt"
    file.write_text("a\n")
    name = await begin(peers, file)
    async with asyncio.timeout(2):
        peers.config.target(name, types_pb2.TARGET_STATE_PAUSED)
        await peers.status_is("PAUSED", name, 0)
        await peers.status_is("PAUSED", name)
    async with asyncio.timeout(2):
        peers.config.target(name, types_pb2.TARGET_STATE_STOPPED)
        await peers.status_is("STOPPED", name)
    async with asyncio.timeout(2):
        peers.config.delete(name)
        await peers.until(lambda: name not in {held for held, _ in peers.scheduler.held}, "let go")


async def test_a_task_that_fails_says_why_and_keeps_its_host_alive_for_others(
    peers: Peers, tmp_path: Path
) -> None:
    name = unique("copy")
    config = {**file_source(tmp_path / "in.txt", name), "value.converter": "NoSuchConverter"}
    peers.config.put(name, config, [{"file": str(tmp_path), "task.class": "x"}])
    peers.scheduler.assign(peers.worker, name, 0)
    await peers.status_is("FAILED", name, 0)
    assert "NoSuchConverter" in peers.status.trace(name, 0)
