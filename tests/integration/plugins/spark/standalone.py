"""A Spark standalone cluster on loopback: a master, and workers that offer a core each."""

from __future__ import annotations

import re
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import httpx2
import psutil
from copycat_embedded.broker import JavaServer
from copycat_embedded.jvm import JavaProgram
from copycat_embedded.ports import LOOPBACK, free_ports
from copycat_executor.spark.command import OPENED, spark_home
from copycat_testkit.java_server import wait_answering
from copycat_testkit.kafka import wait_until
from copycat_testkit.processes import command_line

READY_SECONDS: Final = 120.0
LEAN: Final = ("-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
_FORM: Final = re.compile('<form action="app/kill/".*?</form>', re.DOTALL)
_INPUT: Final = re.compile('name="(.*?)" value="(.*?)"')
#: What an executor's JVM runs.
EXECUTOR: Final = "org.apache.spark.executor.CoarseGrainedExecutorBackend"


class _Daemon(JavaServer):
    """A master or a worker; its page says what it knows."""

    def __init__(self, name: str, folder: Path, *arguments: str) -> None:
        super().__init__()
        self.port, self.page = free_ports(2)
        self.folder = folder
        self._name = f"org.apache.spark.deploy.{name}"
        ports = ("--port", str(self.port), "--webui-port", str(self.page))
        self._arguments = ("--host", LOOPBACK, *ports, *arguments)

    def start(self) -> str:
        """Start, and wait until its page answers."""
        self.folder.mkdir()
        log = self.folder / "log"
        self._program = JavaProgram(
            self._name,
            self._arguments,
            class_path=sorted((spark_home() / "jars").glob("*.jar")),
            options=(*LEAN, *(f"--add-opens={package}=ALL-UNNAMED" for package in OPENED)),
            log=log,
            # What Spark's scripts set for its daemons, which start executors.
            environment={"SPARK_HOME": str(spark_home()), "SPARK_SCALA_VERSION": "2.13"},
        )
        url = f"http://{LOOPBACK}:{self.page}/json/"
        wait_answering(self._program, url, READY_SECONDS, self._name, log)
        return url


class SparkStandalone:
    """Runs from the beginning to the end of a `with` block."""

    def __init__(self, folder: Path, workers: int = 2) -> None:
        """Nothing starts yet; worker 0 works in the folder `0` of `folder`, and so on."""
        self._master = _Daemon("master.Master", folder / "master")
        self.url = f"spark://{LOOPBACK}:{self._master.port}"
        """What `spark.drivers.master` is set to."""
        offered = ("--cores", "1", "--memory", "1g")
        self._workers = [
            _Daemon("worker.Worker", place, *offered, "--work-dir", str(place), self.url)
            for place in (folder / str(number) for number in range(workers))
        ]
        self._running = ExitStack()

    def __enter__(self) -> Self:
        """Start, and wait until the master counts on every worker."""
        for each in (self._master, *self._workers):
            self._running.enter_context(each)
        wait_until(lambda: self._alive() == len(self._workers), READY_SECONDS, "every worker is there")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop."""
        self._running.close()

    def kill_applications(self) -> None:
        """Do what an administrator does on the master's page: send the form that kills each."""
        with httpx2.Client(base_url=f"http://{LOOPBACK}:{self._master.page}", timeout=30) as page:
            forms = _FORM.findall(page.get("/").text)
            assert forms, "no application runs"
            for form in forms:
                page.post(
                    "/app/kill/", data=dict(_INPUT.findall(form)), follow_redirects=True
                ).raise_for_status()

    def worker_of(self, place: str) -> int:
        """Return the number of the worker whose executor worked in a folder."""
        (found,) = [number for number, each in enumerate(self._workers) if str(each.folder) in place]
        return found

    @property
    def worker_ids(self) -> list[int]:
        """The process ids of the workers."""
        return [each.process_id for each in self._workers]

    def executors(self) -> list[psutil.Process]:
        """The JVMs of Spark's executors."""
        workers = [psutil.Process(each) for each in self.worker_ids]
        below = [process for worker in workers for process in worker.children(recursive=True)]
        return [process for process in below if EXECUTOR in command_line(process)]

    def _alive(self) -> int:
        return sum(worker["state"] == "ALIVE" for worker in self._state()["workers"])

    def _state(self) -> Any:
        return httpx2.get(f"http://{LOOPBACK}:{self._master.page}/json/", timeout=30).json()
