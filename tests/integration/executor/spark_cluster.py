"""A Spark standalone cluster from the PySpark wheel: a master and workers, real processes on loopback."""

from __future__ import annotations

import json
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pyspark
from copycat_embedded.ports import free_ports
from copycat_testkit.kafka import wait_until
from copycat_testkit.processes import command_line

SPARK_CLASS = Path(pyspark.__file__).parent / "bin" / "spark-class"
DEPLOY = "org.apache.spark.deploy"
HOST = "127.0.0.1"
#: All of them live for seconds: code worth compiling well never comes.
LEAN = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
START_SECONDS = 120.0
ASK_SECONDS = 5.0


@dataclass(frozen=True)
class Master:
    """A running master."""

    address: str
    page: int
    """Port of its web page, which shows what it knows as JSON."""

    def settings(self, **more: str) -> dict[str, str]:
        """Return the worker properties of an executor that runs its hosts here."""
        return {
            "spark.master": self.address,
            "spark.cores.max": "2",
            "spark.executor.memory": "512m",
            "spark.executor.extraJavaOptions": LEAN,
            "spark.driver.host": HOST,
            "spark.driver.bindAddress": HOST,
            **more,
        }

    @contextmanager
    def worker(self) -> Iterator[psutil.Process]:
        """Run a worker of two cores until it is left or killed; the master knows it once it is given."""
        page = str(free_ports(1)[0])
        arguments = (self.address, "-c", "2", "-m", "2g", "--webui-port", page)
        with _running(f"{DEPLOY}.worker.Worker", *arguments) as worker:
            wait_until(lambda: f":{page}" in self.alive_workers(), START_SECONDS, "the Spark worker")
            yield worker

    def alive_workers(self) -> str:
        """Return where the web pages of the workers are that it counts on, in one line."""
        state = self.state() or {"workers": []}
        return " ".join(each["webuiaddress"] for each in state["workers"] if each["state"] == "ALIVE")

    def state(self) -> Any:
        """Return what its page shows; None where it does not answer yet."""
        url = f"http://{HOST}:{self.page}/json/"
        with suppress(OSError, ValueError), urllib.request.urlopen(url, timeout=ASK_SECONDS) as answer:
            return json.load(answer)
        return None


@contextmanager
def spark_master() -> Iterator[Master]:
    """Run a master without workers; it listens once it is given."""
    port, page = free_ports(2)
    master = Master(f"spark://{HOST}:{port}", page)
    with _running(f"{DEPLOY}.master.Master", "--port", str(port), "--webui-port", str(page)):
        wait_until(master.state, START_SECONDS, "the Spark master")
        yield master


def hosts_of(worker: psutil.Process) -> list[psutil.Process]:
    """Return the processes of hosts on a worker: forked by the daemon of one of its executors."""
    found = []
    with suppress(psutil.NoSuchProcess):
        for process in worker.children(recursive=True):
            parent = process.parent()
            if parent is not None and _is_daemon(process) and _is_daemon(parent):
                found.append(process)
    return found


def _is_daemon(process: psutil.Process) -> bool:
    return "copycat_executor.spark.daemon" in command_line(process)


@contextmanager
def _running(main: str, *arguments: str) -> Iterator[psutil.Process]:
    command = [str(SPARK_CLASS), main, *arguments, "--host", HOST]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as process:
        try:
            yield psutil.Process(process.pid)
        finally:
            process.terminate()
