"""Hosts on a Spark cluster of its own processes: nothing but `spark.master` changes."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pyspark
import pytest
from copycat_embedded.ports import free_ports
from copycat_testkit.kafka import unique, wait_until

from tests.integration.executor.executor_process import executor, file_source

pytestmark = pytest.mark.timeout(240)

SPARK_CLASS = Path(pyspark.__file__).parent / "bin" / "spark-class"
DEPLOY = "org.apache.spark.deploy"
#: All of them live for seconds: code worth compiling well never comes.
LEAN = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A Spark master and one worker on loopback; gives the master's address."""
    monkeypatch.setenv("SPARK_DAEMON_MEMORY", "200m")
    monkeypatch.setenv("SPARK_DAEMON_JAVA_OPTS", LEAN)
    monkeypatch.setenv("SPARK_LAUNCHER_OPTS", LEAN)
    monkeypatch.setenv("SPARK_WORKER_DIR", str(tmp_path / "work"))
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    master, master_page, worker_page = free_ports(3)
    with _running(f"{DEPLOY}.master.Master", "--port", str(master), "--webui-port", str(master_page)):
        wait_until(lambda: _listens(master), 60, "the Spark master")
        address = f"spark://127.0.0.1:{master}"
        pages = ("--webui-port", str(worker_page))
        with _running(f"{DEPLOY}.worker.Worker", address, "-c", "2", "-m", "1g", *pages):
            yield address


@contextmanager
def _running(main: str, *arguments: str) -> Iterator[None]:
    command = [str(SPARK_CLASS), main, *arguments, "--host", "127.0.0.1"]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as process:
        try:
            yield
        finally:
            process.terminate()


def _listens(port: int) -> bool:
    return any(
        each.laddr and each.laddr.port == port and each.status == psutil.CONN_LISTEN
        for each in psutil.net_connections("tcp")
    )


async def test_a_task_runs_on_a_spark_cluster(cluster: str, kafka: str, tmp_path: Path) -> None:
    settings = {
        "spark.master": cluster,
        "spark.cores.max": "2",
        "spark.executor.memory": "512m",
        "spark.executor.extraJavaOptions": LEAN,
    }
    loopback = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    async with executor(kafka, tmp_path, **settings, **loopback) as peers:
        file, name = tmp_path / "in.txt", unique("copy")
        file.write_text("a\nb\n")
        peers.config.put(name, file_source(file, name), [file_source(file, name)])
        peers.scheduler.assign(peers.worker, name, 0)
        await peers.until(lambda: peers.offset.source != {}, "committed", 90)
        assert list(peers.offset.source.values()) == [b'{"position":4}']
        assert peers.forked_hosts() == []  # they are the cluster's children, not ours
        assert await peers.terminate() == 0
