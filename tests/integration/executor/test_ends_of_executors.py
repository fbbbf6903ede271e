"""How an executor ends: drained on SIGTERM, at once when Spark dies, with all it started when killed."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path

import pytest
from copycat_testkit.kafka import consume_all, unique

from tests.integration.executor.executor_process import executor, file_source

pytestmark = [pytest.mark.timeout(240), pytest.mark.long]


async def test_sigterm_drains_commits_and_leaves_no_process(kafka: str, tmp_path: Path) -> None:
    async with executor(kafka, tmp_path, **{"offset.flush.interval.ms": "60000"}) as peers:
        file, name = tmp_path / "in.txt", unique("copy")
        file.write_text("a\nb\n")
        peers.config.put(name, file_source(file, name), [file_source(file, name)])
        peers.scheduler.assign(peers.worker, name, 0)
        await peers.until(lambda: (name, 0) in peers.status.topics, "records delivered")
        family = peers.family()
        assert await peers.terminate() == 0
        assert peers.scheduler.leaving
        assert peers.status.state(name, 0) == "UNASSIGNED"
        assert list(peers.offset.source.values()) == [b'{"position":4}']
        assert len(consume_all(kafka, name)) == 2
        await peers.until(lambda: peers.family() == [], f"all gone of {family}")


async def test_sigterm_leaves_no_temporary_file(kafka: str, tmp_path: Path) -> None:
    async with executor(kafka, tmp_path) as peers:
        await peers.until(lambda: peers.forked_hosts() != [], "a spare host")
        assert [each for each in peers.temporary.iterdir() if each.name.startswith("blockmgr-")]
        assert await peers.terminate() == 0
        await peers.until(lambda: peers.family() == [], "all gone")
        assert list(peers.temporary.iterdir()) == []


async def test_a_dead_jvm_ends_the_executor_with_a_message(kafka: str, tmp_path: Path) -> None:
    async with executor(kafka, tmp_path) as peers:
        await peers.until(lambda: peers.forked_hosts() != [], "a spare host")
        peers.jvm().kill()
        assert await asyncio.wait_for(peers.process.wait(), 60) == 1
        assert "Spark's JVM ended" in peers.log()
        await peers.until(lambda: peers.family() == [], "hosts gone")


async def test_a_frozen_jvm_ends_the_executor_with_a_message(kafka: str, tmp_path: Path) -> None:
    async with executor(kafka, tmp_path) as peers:
        await peers.until(lambda: peers.forked_hosts() != [], "a spare host")
        peers.jvm().suspend()
        assert await asyncio.wait_for(peers.process.wait(), 120) == 1
        assert "Spark's JVM hangs" in peers.log()
        await peers.until(lambda: peers.family() == [], "hosts gone")


async def test_a_killed_executor_takes_its_processes_with_it(kafka: str, tmp_path: Path) -> None:
    async with executor(kafka, tmp_path) as peers:
        await peers.until(lambda: peers.forked_hosts() != [], "a spare host")
        peers.family()
        peers.process.send_signal(signal.SIGKILL)
        await peers.until(lambda: peers.family() == [], "all gone")
