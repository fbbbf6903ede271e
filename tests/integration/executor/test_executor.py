"""Tasks of a real executor on real Spark: they copy, survive, spread over a cluster, and end with it."""

from __future__ import annotations

import asyncio
import json
import shutil
import signal
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import psutil
import pytest
import pytest_asyncio
from copycat.status.v1.status_service_pb2 import TROUBLE_KIND_WAITS as WAITS
from copycat.types.v1 import types_pb2
from copycat_testkit.commands import wait_gone
from copycat_testkit.kafka import consume_all, unique

from tests.integration.executor.executor_process import HOST, Master, Peers, executor, file_source, hosts_of

pytestmark = pytest.mark.timeout(240)


@pytest.mark.long
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


@pytest.mark.long
async def test_sigterm_leaves_no_temporary_file(kafka: str, tmp_path: Path) -> None:
    async with executor(kafka, tmp_path) as peers:
        await peers.until(lambda: peers.forked_hosts() != [], "a spare host")
        assert [each for each in peers.temporary.iterdir() if each.name.startswith("blockmgr-")]
        assert await peers.terminate() == 0
        await peers.until(lambda: peers.family() == [], "all gone")
        assert list(peers.temporary.iterdir()) == []


@pytest.mark.long
@pytest.mark.parametrize(
    ("harm", "seconds", "said"),
    [
        (psutil.Process.kill, 60, "Spark's JVM ended"),
        (psutil.Process.suspend, 120, "Spark's JVM hangs"),
    ],
    ids=["dead", "frozen"],
)
async def test_a_jvm_that_is_of_no_use_ends_the_executor_with_a_message(
    kafka: str, tmp_path: Path, harm: Callable[[psutil.Process], None], seconds: float, said: str
) -> None:
    async with executor(kafka, tmp_path) as peers:
        await peers.until(lambda: peers.forked_hosts() != [], "a spare host")
        harm(peers.jvm())
        assert await asyncio.wait_for(peers.process.wait(), seconds) == 1
        assert said in peers.log()
        await peers.until(lambda: peers.family() == [], "hosts gone")


@pytest.mark.long
async def test_a_killed_executor_takes_its_processes_with_it(kafka: str, tmp_path: Path) -> None:
    async with executor(kafka, tmp_path) as peers:
        await peers.until(lambda: peers.forked_hosts() != [], "a spare host")
        peers.family()
        peers.process.send_signal(signal.SIGKILL)
        await peers.until(lambda: peers.family() == [], "all gone")


SHIPPED = "shipped.ShippedSource"
#: A plugin as `pip install --target` leaves it: its module, and what says that it is there.
PLUGIN = f"""
from dataclasses import replace

from copycat_plugins.connectors.file_stream_source import PLUGIN as FILES

PLUGIN = replace(FILES, class_name="{SHIPPED}")
"""
METADATA = "Metadata-Version: 2.1\nName: shipped\nVersion: 1.0\n"
ENTRY_POINTS = "[copycat.plugins]\nshipped = shipped_source\n"


def plugin_folder(folder: Path) -> Path:
    about = folder / "shipped-1.0.dist-info"
    about.mkdir(parents=True)
    (folder / "shipped_source.py").write_text(PLUGIN)
    (about / "METADATA").write_text(METADATA)
    (about / "entry_points.txt").write_text(ENTRY_POINTS)
    return folder


def begin_source(peers: Peers, file: Path, name: str, class_name: str) -> None:
    file.write_text("a\nb\n")
    config = {**file_source(file, name), "connector.class": class_name}
    peers.config.put(name, config, [config])
    peers.scheduler.assign(peers.worker, name, 0)


def positions(peers: Peers) -> list[bytes]:
    return sorted(peers.offset.source.values())


@pytest.mark.timeout(600)
@pytest.mark.long
async def test_hosts_spread_over_workers_and_a_lost_worker_leaves_no_orphan(
    master: Master, kafka: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with master.worker() as first, master.worker() as second:
        folder = plugin_folder(tmp_path / "plugins")
        archive = shutil.make_archive(str(tmp_path / "plugins"), "gztar", folder)
        monkeypatch.setenv("PYTHONPATH", str(folder))  # of the executor alone: the workers run already
        shipped = {"spark.archives": f"{archive}#plugins", "spark.executorEnv.PYTHONPATH": "plugins"}
        (tmp_path / "host").write_text(HOST)
        placeholder = {
            "config.providers": "directory",
            "config.providers.directory.class": "DirectoryConfigProvider",
            "spark.driver.host": f"${{directory:{tmp_path}:host}}",
        }
        settings = master.settings(**shipped, **placeholder, **{"spark.executor.cores": "1"})
        async with executor(kafka, tmp_path, **settings) as peers:
            files = {unique("one"): tmp_path / "one.txt", unique("two"): tmp_path / "two.txt"}
            for (name, file), class_name in zip(files.items(), ("FileStreamSource", SHIPPED), strict=True):
                begin_source(peers, file, name, class_name)
            await peers.until(lambda: positions(peers) == [b'{"position":4}'] * 2, "both committed", 180)
            assert peers.forked_hosts() == []  # they are the cluster's children, not ours
            await peers.until(lambda: bool(hosts_of(first) and hosts_of(second)), "hosts on both", 60)

            below = first.children(recursive=True)
            first.kill()
            wait_gone(below, 60)
            for file in files.values():
                with file.open("a") as more:
                    more.write("c\n")
            await peers.until(lambda: positions(peers) == [b'{"position":6}'] * 2, "both went on", 120)
            left = second.children(recursive=True)
            assert await peers.terminate() == 0
        wait_gone(left, 60)


@pytest.mark.timeout(600)
@pytest.mark.long
async def test_a_task_that_waits_for_a_place_on_spark_says_so(
    master: Master, kafka: str, tmp_path: Path
) -> None:
    async with executor(kafka, tmp_path, **master.settings()) as peers:
        file, name = tmp_path / "in.txt", unique("copy")
        file.write_text("a\nb\n")
        peers.config.put(name, file_source(file, name), [file_source(file, name)])
        peers.scheduler.assign(peers.worker, name, 0)

        def waits() -> bool:
            told = peers.status.troubles
            return [each.kind for each in told] == [WAITS] and "a place on Spark (spark://" in told[0].text

        await peers.status_is("UNASSIGNED", name, 0)
        await peers.until(waits, "it says what it waits for", 60)
        assert (peers.status.troubles[0].connector, peers.status.troubles[0].task) == (name, 0)
        with master.worker() as worker:
            await peers.until(lambda: peers.status.state(name, 0) == "RUNNING", "it has a place", 120)
            await peers.until(lambda: peers.status.troubles == [], "it waits no longer", 60)
            for process in (worker, *worker.children(recursive=True)):
                process.kill()
        await peers.until(lambda: peers.status.state(name, 0) == "UNASSIGNED", "nobody runs it", 60)
        await peers.until(waits, "it waits again", 60)
        with master.worker():
            await peers.until(lambda: peers.status.state(name, 0) == "RUNNING", "it has a place again", 120)
            await peers.until(lambda: peers.status.troubles == [], "all is well", 60)


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


@pytest.mark.asyncio(loop_scope="module")
async def test_a_source_task_copies_commits_and_names_its_topic(
    peers: Peers, kafka: str, tmp_path: Path
) -> None:
    file = tmp_path / "in.txt"
    file.write_text("a\nb\nc\n")
    name = await begin(peers, file)
    await committed(peers, name, 6)
    assert lines(kafka, name) == ["a", "b", "c"]
    assert peers.status.topics[(name, 0)] == {name}


@pytest.mark.asyncio(loop_scope="module")
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


@pytest.mark.asyncio(loop_scope="module")
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


@pytest.mark.asyncio(loop_scope="module")
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


@pytest.mark.asyncio(loop_scope="module")
async def test_a_task_that_fails_says_why_and_keeps_its_host_alive_for_others(
    peers: Peers, tmp_path: Path
) -> None:
    name = unique("copy")
    config = {**file_source(tmp_path / "in.txt", name), "value.converter": "NoSuchConverter"}
    peers.config.put(name, config, [{"file": str(tmp_path), "task.class": "x"}])
    peers.scheduler.assign(peers.worker, name, 0)
    await peers.status_is("FAILED", name, 0)
    assert "NoSuchConverter" in peers.status.trace(name, 0)
