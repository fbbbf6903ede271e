"""A whole Copycat as users start it: `copycat up` as a child process, with its roles by name."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

import psutil
from copycat_connect.config.client_overrides import EMBEDDED_SERVERS
from copycat_connect.config.properties import parse_properties
from copycat_embedded.ports import free_ports
from copycat_eventlog.clients import librdkafka_config, read_security

from copycat_testkit.commands import COPYCAT
from copycat_testkit.kafka import wait_until
from copycat_testkit.processes import command_line, lives

READY = "Copycat is ready: "
STOP_SECONDS = 60.0
#: The process that config, offset, status and scheduler share, unless `services.in.one.process=false`.
SERVICES = "services"
#: Worker properties for drivers of Spark that live for seconds: they compile sooner, and less well.
SHORT_LIVED_DRIVERS = {"spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1"}
_SERVICES_MODULE = "copycat_launcher.services"
_running: list[CopycatUp] = []


def running_systems() -> tuple[CopycatUp, ...]:
    """Return those that were started in this process and not stopped."""
    return tuple(_running)


def names(group: str) -> dict[str, str]:
    """Return the settings that keep a cluster apart from others on the same Kafka."""
    topics = {"config": "configs", "offset": "offsets", "status": "status", "assignment": "assignments"}
    return {
        "group.id": group,
        **{f"{name}.storage.topic": f"{group}-{topic}" for name, topic in topics.items()},
    }


def set_options(properties: Mapping[str, str]) -> list[str]:
    """Return the options of `copycat up` that set worker properties."""
    return [part for key, text in properties.items() for part in ("--set", f"{key}={text}")]


class CopycatUp:
    """One `copycat up`, on a broker that is there or on an embedded one of its own."""

    def __init__(
        self,
        folder: Path,
        bootstrap: str | None = None,
        *,
        port: int = 0,
        settings: Mapping[str, str] | None = None,
        options: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
        program: Path = COPYCAT,
    ) -> None:
        """Nothing starts yet; `folder` is the data directory, port 0 picks a free one for REST.

        `settings` are worker properties. `environment` is added to ours: a PYTHONPATH there may bring
        plugins. `program` may be the `copycat` of another environment.
        """
        self.folder = folder
        self.port = port or free_ports(1)[0]
        self.said: list[str] = []
        self._bootstrap = bootstrap
        self._options = (*set_options(settings or {}), *options)
        self._environment = {**os.environ, "TERM": "dumb", **(environment or {})}
        self._program = program
        self._process: subprocess.Popen[str] | None = None

    @property
    def url(self) -> str:
        """The root of the REST interface."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def kafka(self) -> str:
        """The address at which anybody reaches its Kafka."""
        properties = self.properties
        return properties.get(EMBEDDED_SERVERS) or properties["bootstrap.servers"]

    def kafka_client(self) -> dict[str, str | int | bool]:
        """Return what a client of librdkafka needs to log in to its Kafka as Copycat does."""
        properties = self.properties
        return librdkafka_config(properties["bootstrap.servers"], read_security(properties))

    @property
    def properties(self) -> dict[str, str]:
        """The worker properties of its roles, once it is started."""
        return parse_properties((self.folder / "worker.properties").read_text("utf-8"))

    @property
    def pid(self) -> int:
        """The launcher's process id; 0 when it does not run."""
        return self._process.pid if self._process else 0

    def start(self) -> CopycatUp:
        """Start and wait for the line that says it is ready.

        Raises:
            AssertionError: It ended before; the text has what it said.
        """
        command = [str(self._program), "up", "--rest-port", str(self.port)]
        command += ["--data-dir", str(self.folder), *self._options]
        if self._bootstrap:
            command += ["--bootstrap-servers", self._bootstrap]
        self._process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=self._environment,
        )
        for line in self._process.stdout or ():
            self.said.append(line)
            if line.startswith(READY):
                _running.append(self)
                return self
        code = self._process.wait()
        raise AssertionError(f"copycat up ended with {code} before it was ready:\n{''.join(self.said[-30:])}")

    def processes(self, role: str) -> list[psutil.Process]:
        """Return the live processes of a role: a service's name, `SERVICES`, `spark` (the JVM) or `host`."""
        return [
            process for process in psutil.Process(self.pid).children(recursive=True) if _is(process, role)
        ]

    def executor(self, worker_id: str) -> psutil.Process:
        """Return the process of a worker, which is named by where it listens.

        Raises:
            AssertionError: None listens there.
        """
        port = int(worker_id.rpartition(":")[2])
        found = [process for process in self.processes("executor") if _listens(process, port)]
        assert found, f"no executor listens on {worker_id}"
        return found[0]

    def kill(self, role: str) -> None:
        """Kill -9 every process of a role, once there is one: those killed before may not be back yet.

        Raises:
            AssertionError: None runs within a minute.
        """
        for process in wait_until(lambda: self.processes(role), what=f"a process of {role}"):
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()

    def stop(self) -> int:
        """Drain and stop; returns the exit code. What is left after a minute is killed and reported."""
        if self._process is None:
            return 0
        if self in _running:
            _running.remove(self)
        below = psutil.Process(self.pid).children(recursive=True) if psutil.pid_exists(self.pid) else []
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.communicate(timeout=STOP_SECONDS)
        finally:
            left = [process for process in below if lives(process)]
            for process in left:
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.kill()
            self._process.kill()
        code, self._process = self._process.returncode, None
        assert not left, f"copycat up left processes behind: {left}"
        return code

    def __enter__(self) -> CopycatUp:
        """Start."""
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop."""
        self.stop()


def _is(process: psutil.Process, role: str) -> bool:
    command = " ".join(command_line(process))
    try:
        above = process.parent()
    except psutil.NoSuchProcess:
        return False
    parent = " ".join(command_line(above)) if above else ""
    if role == "spark":
        return "org.apache.spark" in command and "java" in command
    if role == "host":
        return "pyspark" in command and "daemon" in command and "daemon" in parent
    if role == SERVICES:
        return _SERVICES_MODULE in command
    return f"copycat_{role}" in command and "pyspark" not in command


def _listens(process: psutil.Process, port: int) -> bool:
    try:
        connections = process.net_connections("tcp")
    except psutil.NoSuchProcess:
        return False
    return any(each.laddr.port == port and each.status == psutil.CONN_LISTEN for each in connections)
