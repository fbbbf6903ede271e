"""`copycat up` as it is: every service real, files copied through it, killed and started again."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import httpx2
import psutil
import pytest
from copycat_launcher.supervisor import READY_SECONDS
from copycat_testkit.commands import Command, Commands, wait_gone
from copycat_testkit.kafka import wait_until
from copycat_testkit.processes import command_line

pytestmark = pytest.mark.timeout(400)
STRING = "org.apache.kafka.connect.storage.StringConverter"


class System:
    """One data directory, its source file and its target file; what runs on it goes from test to test."""

    def __init__(self, commands: Commands, folder: Path) -> None:
        self.commands = commands
        self.data = folder / "data"
        self.source = folder / "source.txt"
        self.target = folder / "target.txt"
        self.url = ""
        self._command: Command | None = None

    def running(self) -> Command:
        """Return the command that runs; the first one gets the connectors."""
        if self._command is None:
            self.up()
            self._create()
        assert self._command is not None
        return self._command

    def up(self) -> Command:
        """Start on the data directory, after what ran there has ended."""
        settings = ("--set", "offset.flush.interval.ms=1000")
        self._command = self.commands.start("up", "--rest-port", "0", "--data-dir", self.data, *settings)
        self.url = self._command.wait_ready(READY_SECONDS + 30)  # what is not ready says so itself
        return self._command

    def write(self, *lines: str) -> None:
        with self.source.open("a") as file:
            file.writelines(f"{line}\n" for line in lines)

    def arrived(self) -> list[str]:
        return self.target.read_text().splitlines() if self.target.exists() else []

    def wait_for(self, *lines: str) -> None:
        wait_until(lambda: set(lines) <= set(self.arrived()), 90, f"the arrival of {lines}")

    def _create(self) -> None:
        for name, config in (
            ("in", {"connector.class": "FileStreamSource", "file": str(self.source), "topic": "lines"}),
            ("out", {"connector.class": "FileStreamSink", "file": str(self.target), "topics": "lines"}),
        ):
            converters = {"key.converter": STRING, "value.converter": STRING}
            body = {"name": name, "config": {**config, **converters}}
            assert httpx2.post(f"{self.url}/connectors", json=body, timeout=60).status_code == 201


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory) -> Iterator[System]:
    """Give one system to all tests here: each start of one costs as much as all that they do with it."""
    folder = tmp_path_factory.mktemp("up")
    commands = Commands(folder)
    yield System(commands, folder)
    commands.close()


@pytest.mark.long
@pytest.mark.row("K26-57")
def test_an_executor_that_is_killed_comes_back_to_its_tasks(system: System) -> None:
    command = system.running()
    system.write("before the executor ends")
    system.wait_for("before the executor ends")
    executor = next(process for process in command.tree() if "copycat_executor" in command_line(process))
    below = executor.children(recursive=True)
    os.kill(executor.pid, signal.SIGKILL)
    wait_gone(below)
    system.write("after it")
    system.wait_for("after it")
    assert "executor ended (killed by SIGKILL); starting it again" in command.said()


@pytest.mark.long
@pytest.mark.row("K26-32", "K26-40")
def test_a_second_start_goes_on_where_the_first_was_drained(system: System) -> None:
    first = system.running()
    system.write("one", "two")
    system.wait_for("one", "two")
    processes = first.tree()
    assert first.end() == 0
    wait_gone(processes)
    running = psutil.process_iter(["cmdline"])  # those that vanish meanwhile have none
    assert not [process for process in running if str(system.data) in (process.info["cmdline"] or ())]
    system.write("three")
    system.up()
    assert sorted(httpx2.get(f"{system.url}/connectors", timeout=60).json()) == ["in", "out"]
    system.wait_for("three")
    arrived = system.arrived()
    assert arrived[arrived.index("one") :] == ["one", "two", "three"]


@pytest.mark.long
@pytest.mark.row("K26-46")
def test_nothing_is_lost_and_nothing_left_when_everything_is_killed(system: System) -> None:
    first = system.running()
    system.write("four", "five")
    system.wait_for("four", "five")
    processes = first.tree()
    assert first.end(signal.SIGKILL) == -signal.SIGKILL
    wait_gone(processes)
    system.write("six")
    second = system.up()
    system.wait_for("four", "five", "six")
    assert second.end() == 0
    running = psutil.process_iter(["cmdline"])
    assert not [process for process in running if str(system.data) in (process.info["cmdline"] or ())]
