"""Hosts on a Spark cluster of its own processes: nothing but `spark.master` changes."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from copycat.status.v1.status_service_pb2 import TROUBLE_KIND_WAITS as WAITS
from copycat_testkit.commands import wait_gone
from copycat_testkit.kafka import unique

from tests.integration.executor.executor_process import Peers, executor, file_source
from tests.integration.executor.spark_cluster import Master, hosts_of

pytestmark = [pytest.mark.timeout(600), pytest.mark.long]

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


def begin(peers: Peers, file: Path, name: str, class_name: str) -> None:
    file.write_text("a\nb\n")
    config = {**file_source(file, name), "connector.class": class_name}
    peers.config.put(name, config, [config])
    peers.scheduler.assign(peers.worker, name, 0)


def positions(peers: Peers) -> list[bytes]:
    return sorted(peers.offset.source.values())


async def test_hosts_spread_over_workers_and_a_lost_worker_leaves_no_orphan(
    master: Master, kafka: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with master.worker() as first, master.worker() as second:
        folder = plugin_folder(tmp_path / "plugins")
        archive = shutil.make_archive(str(tmp_path / "plugins"), "gztar", folder)
        monkeypatch.setenv("PYTHONPATH", str(folder))  # of the executor alone: the workers run already
        shipped = {"spark.archives": f"{archive}#plugins", "spark.executorEnv.PYTHONPATH": "plugins"}
        settings = master.settings(**shipped, **{"spark.executor.cores": "1"})
        async with executor(kafka, tmp_path, **settings) as peers:
            files = {unique("one"): tmp_path / "one.txt", unique("two"): tmp_path / "two.txt"}
            for (name, file), class_name in zip(files.items(), ("FileStreamSource", SHIPPED), strict=True):
                begin(peers, file, name, class_name)
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
