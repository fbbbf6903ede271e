"""Processes of Spark: the daemon that forks hosts, drivers, a JVM that hangs."""

from __future__ import annotations

import asyncio
import json
import os
import queue
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest
from copycat_executor.spark import jvm_watch
from copycat_executor.spark.daemon import OwnSocket, owner_of
from copycat_executor.spark.driver_launcher import DriverLauncher
from copycat_executor.spark.jvm_watch import JvmWatch
from copycat_executor.spark.session import Spark
from copycat_executor.taskhost.spec import HostSpec
from copycat_testkit.kafka import wait_until
from py4j.protocol import Py4JError

PROBE = """
import json, sys, threading
from copycat_executor.spark.daemon import preload
preload()
from copycat_connect.plugin import load_plugins
before = set(sys.modules)
load_plugins()
print(json.dumps({
    "threads": threading.active_count(),
    "loaded by a host": sorted(set(sys.modules) - before),
}))
"""


def test_a_host_finds_our_plugins_loaded_and_loads_those_of_others_itself(tmp_path: Path) -> None:
    (tmp_path / "stranger.py").write_text("raise SystemExit('not in the parent of the hosts')\n")
    about = tmp_path / "stranger-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: stranger\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[copycat.plugins]\nstranger = stranger\n")

    ran = subprocess.run(
        [sys.executable, "-c", PROBE],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    assert found["threads"] == 1
    assert not [name for name in found["loaded by a host"] if name.startswith("copycat_")]


#: The daemon as Spark starts it, but without what takes it a second to load.
SERVING = """
import sys
from copycat_executor.spark.daemon import OwnSocket, serve
OwnSocket.owner = int(sys.argv[1])
serve()
"""


@contextmanager
def daemon_of(owner: int) -> Iterator[tuple[psutil.Process, int]]:
    """Run the daemon of a user; gives its process and its port."""
    command = [sys.executable, "-c", SERVING, str(owner)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as started:
        assert started.stdin is not None
        assert started.stdout is not None
        (port,) = struct.unpack("!i", started.stdout.read(4))
        try:
            yield psutil.Process(started.pid), port
        finally:
            started.stdin.close()


def said_to(port: int) -> bytes:
    """Return what the daemon says to somebody who connects and keeps the connection."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        return connection.recv(4)


def test_the_daemon_forks_for_its_own_user() -> None:
    with daemon_of(os.getuid()) as (process, port), socket.create_connection(("127.0.0.1", port)) as asking:
        (child,) = struct.unpack("!i", asking.recv(4))

        assert [each.pid for each in process.children()] == [child]


def test_the_daemon_forks_for_nobody_else() -> None:
    with daemon_of(os.getuid() + 1) as (process, port):
        for _ in range(30):
            assert said_to(port) == b""

        assert process.children() == []
        assert process.is_running()


@pytest.mark.parametrize(
    ("family", "address"),
    [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1"), (socket.AF_INET, "127.0.0.9")],
)
def test_who_opened_a_connection_is_known(family: socket.AddressFamily, address: str) -> None:
    with socket.socket(family) as server:
        server.bind((address, 0))
        server.listen()
        with socket.create_connection(server.getsockname()[:2]) as client:
            connection, peer = server.accept()
            connection.close()

            assert owner_of(peer, server.getsockname()) == os.getuid()
            assert owner_of((*peer[:1], 1), server.getsockname()) == -1
            assert client.getsockname()[:2] == peer[:2]


def test_a_client_that_speaks_both_protocols_is_known_as_java_is() -> None:
    with OwnSocket(socket.AF_INET) as server, socket.socket(socket.AF_INET6) as client:
        server.bind(("127.0.0.1", 0))
        server.listen()
        client.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        client.connect(("::ffff:127.0.0.1", server.getsockname()[1]))

        connection, _ = server.accept()
        connection.close()


SPEC = HostSpec("a:1/driver-1", "a:1", "token")


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the file of the module that stands for a driver."""
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return tmp_path / "played_driver.py"


def launched(properties: dict[str, str]) -> tuple[DriverLauncher, queue.Queue[tuple[str, str | None]]]:
    ends: queue.Queue[tuple[str, str | None]] = queue.Queue()
    launcher = DriverLauncher(properties, "played_driver")
    launcher.launch(SPEC, lambda host, reason: ends.put((host, reason)))
    return launcher, ends


def test_a_driver_gets_its_spec_and_the_properties_of_spark_alone(program: Path) -> None:
    given = program.with_name("given.json")
    program.write_text(f"import sys, pathlib\npathlib.Path({str(given)!r}).write_text(sys.stdin.read())\n")
    _, ends = launched({"spark.drivers.memory": "1g", "producer.sasl.password": "secret"})
    assert ends.get(timeout=60) == (SPEC.host_id, None)
    told = json.loads(given.read_text())
    assert HostSpec.from_json(told["spec"]) == SPEC
    assert told["properties"] == {"spark.drivers.memory": "1g"}


def test_the_end_of_a_driver_whose_heap_was_full_names_the_setting(program: Path) -> None:
    program.write_text("raise SystemExit(3)\n")
    _, ends = launched({})
    host, reason = ends.get(timeout=60)
    assert host == SPEC.host_id
    assert "spark.drivers.memory" in (reason or "")


def hanging_driver(program: Path) -> tuple[DriverLauncher, queue.Queue[tuple[str, str | None]], int]:
    """Launch a driver that does not end by itself; also returns its process id."""
    program.write_text(
        "import os, pathlib, time\n"
        f"pathlib.Path({str(program.with_name('pid'))!r}).write_text(str(os.getpid()))\ntime.sleep(600)\n"
    )
    launcher, ends = launched({})
    file = program.with_name("pid")
    wait_until(lambda: file.is_file() and file.read_text(), 60, "it runs")
    return launcher, ends, int(file.read_text())


KILLED = (SPEC.host_id, "its driver of Spark ended with exit code -9")


def test_a_driver_is_ended_by_force(program: Path) -> None:
    launcher, ends, pid = hanging_driver(program)
    assert asyncio.run(launcher.kill_and_wait(SPEC.host_id, pid))
    assert ends.get(timeout=60) == KILLED
    assert not psutil.pid_exists(pid)
    assert pid != os.getpid()


def test_a_driver_that_starts_and_has_not_attached_is_ended_by_force(program: Path) -> None:
    launcher, ends, pid = hanging_driver(program)
    launcher.kill(SPEC.host_id, 0)
    assert ends.get(timeout=60) == KILLED
    assert not psutil.pid_exists(pid)


SECONDS = 60.0


class HeldContext:
    """A context whose stop does not end before its JVM does."""

    def __init__(self) -> None:
        self.jvm_killed = threading.Event()
        self.left: list[float] = []

    def stop(self) -> None:
        assert self.jvm_killed.wait(SECONDS)
        raise Py4JError

    def kill(self) -> None:
        self.jvm_killed.set()

    def end(self, seconds: float) -> None:
        self.left.append(seconds)


def test_a_context_that_does_not_stop_is_ended_with_its_jvm() -> None:
    context = HeldContext()
    jvm = SimpleNamespace(kill=context.kill, stop=context.end)
    Spark(jvm, context).stop(0.05)  # type: ignore[arg-type]
    assert context.left == [0.05]


class Jvm:
    """Answers until it hangs, or has ended."""

    def __init__(self) -> None:
        self.asked = 0
        self.hangs = threading.Event()
        self.thawed = threading.Event()
        self.gone = False
        self.killed = threading.Event()

    def ask(self) -> None:
        self.asked += 1
        if self.gone:
            raise Py4JError
        if self.hangs.is_set():
            self.thawed.wait(SECONDS)


@pytest.fixture
def jvm() -> Jvm:
    return Jvm()


@pytest.fixture
def watch(jvm: Jvm) -> Iterator[JvmWatch]:
    # Looks are so many that a machine which stands still is no reason to end what answers.
    watching = JvmWatch(jvm.ask, jvm.killed.set, interval_seconds=0.02)
    watching.start()
    yield watching
    watching.stop()
    jvm.thawed.set()


def test_one_that_hangs_is_ended(jvm: Jvm, watch: JvmWatch) -> None:
    wait_until(lambda: jvm.asked > 3, SECONDS, "it is asked")
    jvm.hangs.set()
    assert jvm.killed.wait(SECONDS)


def test_one_that_is_gone_is_left_to_who_watches_its_end(jvm: Jvm, watch: JvmWatch) -> None:
    jvm.gone = True
    wait_until(lambda: jvm.asked > 0, SECONDS, "it is asked")
    wait_until(lambda: not _watching(), SECONDS, "nobody asks any more")
    assert not jvm.killed.is_set()


def _watching() -> list[threading.Thread]:
    return [each for each in threading.enumerate() if each.name == "spark-jvm-hangs"]


def test_it_has_half_a_minute() -> None:
    assert jvm_watch.INTERVAL_SECONDS * jvm_watch.MOST_LOOKS == 30.0
