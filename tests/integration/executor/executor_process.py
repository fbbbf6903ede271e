"""A real executor on real Spark, or on a Spark cluster of processes; tests play the other services."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pyspark
from copycat.config.v1.config_service_pb2_grpc import add_ConfigServiceServicer_to_server
from copycat.offset.v1.offset_service_pb2_grpc import add_OffsetServiceServicer_to_server
from copycat.scheduler.v1.scheduler_service_pb2_grpc import add_SchedulerServiceServicer_to_server
from copycat.status.v1.status_service_pb2_grpc import add_StatusServiceServicer_to_server
from copycat_embedded.ports import free_ports
from copycat_rpc.server import RpcServer
from copycat_testkit.kafka import wait_until
from copycat_testkit.processes import command_line, lives

from tests.contract.executor.fake_services import FakeConfig, FakeOffset, FakeScheduler, FakeStatus

EXECUTOR_START_SECONDS = 150.0
DEADLINE = 90.0
STRING = "org.apache.kafka.connect.storage.StringConverter"


class Peers:
    """The other services, and the executor's process."""

    def __init__(self, bootstrap: str, folder: Path) -> None:
        self.config = FakeConfig()
        self.scheduler = FakeScheduler()
        self.status = FakeStatus()
        self.offset = FakeOffset()
        self.bootstrap = bootstrap
        self.folder = folder
        self.temporary = folder / "temporary"
        """Where the executor and its JVM make temporary files: those of the killed go with the test's."""
        self.worker = f"127.0.0.1:{free_ports(1)[0]}"
        self.address = ""
        self.process: asyncio.subprocess.Process
        self._family: dict[int, psutil.Process] = {}

    def properties(self) -> dict[str, str]:
        """The worker's properties."""
        roles = ("config", "offset", "status", "scheduler")
        return {
            "bootstrap.servers": self.bootstrap,
            "group.id": "executor-test",
            "executor.listen": self.worker,
            **{f"{role}.addresses": self.address for role in roles},
            "key.converter": STRING,
            "value.converter": STRING,
            "offset.flush.interval.ms": "500",
            "spark.master": "local[8]",
            "spark.driver.extraJavaOptions": f"-Djava.io.tmpdir={self.temporary}",
        }

    async def start(self, more: Mapping[str, str] | None = None) -> None:
        """Start the executor and wait until it has joined."""
        self.temporary.mkdir(exist_ok=True)
        file = self.folder / "worker.properties"
        lines = [f"{key}={value}" for key, value in {**self.properties(), **(more or {})}.items()]
        file.write_text("\n".join(lines))
        with (self.folder / "executor.log").open("ab") as log:
            self.process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "copycat_executor", str(file)),
                stdout=log,
                stderr=log,
                env={**os.environ, "TMPDIR": str(self.temporary)},
            )
        await self.until(lambda: self.scheduler.beats > 0, "the executor joined", EXECUTOR_START_SECONDS)

    async def until(self, holds: Callable[[], bool], what: str, seconds: float = DEADLINE) -> None:
        """Wait for a condition."""
        deadline = time.monotonic() + seconds
        while not holds():
            assert time.monotonic() < deadline, f"never happened: {what}\n{self.log()[-3000:]}"
            await asyncio.sleep(0.01)

    async def status_is(self, state: str, connector: str, task: int | None = None) -> None:
        """Wait until a status was reported."""
        await self.until(
            lambda: self.status.states(connector, task)[-1:] == [state], f"{connector} {task} {state}"
        )

    def log(self) -> str:
        """What the executor wrote."""
        return (self.folder / "executor.log").read_text()

    def family(self) -> list[psutil.Process]:
        """The executor's processes that live: itself, the JVM, the hosts, the process of the connectors."""
        with suppress(psutil.NoSuchProcess):
            me = psutil.Process(self.process.pid)
            for process in [me, *me.children(recursive=True)]:
                self._family.setdefault(process.pid, process)
        return [process for process in self._family.values() if lives(process)]

    def jvm(self) -> psutil.Process:
        """Spark's JVM."""
        return next(process for process in self.family() if "java" in process.name())

    def forked_hosts(self) -> list[psutil.Process]:
        """The hosts' processes: children of Spark's Python daemon."""
        daemons = [each for each in self.jvm().children() if "copycat_executor.spark.daemon" in _line(each)]
        return [host for daemon in daemons for host in daemon.children() if lives(host)]

    async def end(self) -> None:
        """End whatever is left."""
        for process in self.family():
            with suppress(psutil.NoSuchProcess):
                process.kill()
        await self.process.wait()

    async def terminate(self) -> int:
        """Ask the executor to drain; returns its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return await asyncio.wait_for(self.process.wait(), DEADLINE)


def _line(process: psutil.Process) -> str:
    return " ".join(command_line(process))


@asynccontextmanager
async def executor(bootstrap: str, folder: Path, **more: str) -> AsyncIterator[Peers]:
    """Run an executor with its peers."""
    peers = Peers(bootstrap, folder)
    server = RpcServer("127.0.0.1:0")
    server.add(add_ConfigServiceServicer_to_server, peers.config, "copycat.config.v1.ConfigService")
    server.add(
        add_SchedulerServiceServicer_to_server, peers.scheduler, "copycat.scheduler.v1.SchedulerService"
    )
    server.add(add_StatusServiceServicer_to_server, peers.status, "copycat.status.v1.StatusService")
    server.add(add_OffsetServiceServicer_to_server, peers.offset, "copycat.offset.v1.OffsetService")
    peers.address = await server.start()
    try:
        await peers.start(more)
        yield peers
    finally:
        await peers.end()
        await server.stop(0)


def file_source(file: Path, topic: str) -> dict[str, str]:
    """A source that copies a file."""
    return {"connector.class": "FileStreamSource", "file": str(file), "topic": topic, "tasks.max": "1"}


SPARK_CLASS = Path(pyspark.__file__).parent / "bin" / "spark-class"
DEPLOY = "org.apache.spark.deploy"
HOST = "127.0.0.1"
#: All of them live for seconds: code worth compiling well never comes.
LEAN = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
SPARK_START_SECONDS = 120.0
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
            wait_until(lambda: f":{page}" in self.alive_workers(), SPARK_START_SECONDS, "the Spark worker")
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
        wait_until(master.state, SPARK_START_SECONDS, "the Spark master")
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
