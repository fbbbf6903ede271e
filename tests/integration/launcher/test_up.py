"""`copycat up` as it is: every service real, files copied through it, killed and started again."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import httpx
import psutil
import pytest
from copycat_testkit.commands import Command, Commands, wait_gone
from copycat_testkit.kafka import wait_until

pytestmark = pytest.mark.timeout(300)
STRING = "org.apache.kafka.connect.storage.StringConverter"


class System:
    """One data directory, its source file and its target file."""

    def __init__(self, commands: Commands, folder: Path) -> None:
        self.commands = commands
        self.data = folder / "data"
        self.source = folder / "source.txt"
        self.target = folder / "target.txt"
        self.url = ""

    def up(self) -> Command:
        settings = ("--set", "offset.flush.interval.ms=1000")
        command = self.commands.start("up", "--rest-port", "0", "--data-dir", self.data, *settings)
        self.url = command.wait_ready(180)
        return command

    def create(self) -> None:
        for name, config in (
            ("in", {"connector.class": "FileStreamSource", "file": str(self.source), "topic": "lines"}),
            ("out", {"connector.class": "FileStreamSink", "file": str(self.target), "topics": "lines"}),
        ):
            converters = {"key.converter": STRING, "value.converter": STRING}
            body = {"name": name, "config": {**config, **converters}}
            assert httpx.post(f"{self.url}/connectors", json=body, timeout=60).status_code == 201

    def write(self, *lines: str) -> None:
        with self.source.open("a") as file:
            file.writelines(f"{line}\n" for line in lines)

    def arrived(self) -> list[str]:
        return self.target.read_text().splitlines() if self.target.exists() else []

    def wait_for(self, *lines: str) -> None:
        wait_until(lambda: set(lines) <= set(self.arrived()), 90, f"the arrival of {lines}")


@pytest.fixture
def system(tmp_path: Path) -> Iterator[System]:
    commands = Commands(tmp_path)
    yield System(commands, tmp_path)
    commands.close()


@pytest.mark.row("K26-32", "K26-40")
def test_a_second_start_goes_on_where_the_first_was_drained(system: System) -> None:
    system.write("one", "two")
    first = system.up()
    system.create()
    system.wait_for("one", "two")
    processes = first.tree()
    assert first.end() == 0
    wait_gone(processes)
    system.write("three")
    second = system.up()
    assert sorted(httpx.get(f"{system.url}/connectors", timeout=60).json()) == ["in", "out"]
    system.wait_for("three")
    assert second.end() == 0
    assert system.arrived() == ["one", "two", "three"]
    running = psutil.process_iter(["cmdline"])  # those that vanish meanwhile have none
    assert not [process for process in running if str(system.data) in (process.info["cmdline"] or ())]


@pytest.mark.row("K26-46")
def test_nothing_is_lost_and_nothing_left_when_everything_is_killed(system: System) -> None:
    system.write("one", "two")
    first = system.up()
    system.create()
    system.wait_for("one", "two")
    processes = first.tree()
    assert first.end(signal.SIGKILL) == -signal.SIGKILL
    wait_gone(processes)
    system.write("three")
    second = system.up()
    system.wait_for("one", "two", "three")
    assert second.end() == 0


@pytest.mark.row("K26-57")
def test_an_executor_that_is_killed_comes_back_to_its_tasks(system: System) -> None:
    system.write("one")
    command = system.up()
    system.create()
    system.wait_for("one")
    executor = next(process for process in command.tree() if "copycat_executor" in process.cmdline())
    below = executor.children(recursive=True)
    os.kill(executor.pid, signal.SIGKILL)
    wait_gone(below)
    system.write("two")
    system.wait_for("two")
    assert "executor ended (killed by SIGKILL); starting it again" in command.said()
    assert command.end() == 0
