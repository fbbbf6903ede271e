"""`copycat up` with a real broker and faked roles: start, restarts, the order of the drain, nothing left."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import psutil
import pytest
from copycat_testkit.commands import Command, Commands, wait_gone
from copycat_testkit.kafka import consume_all, create_topic, produce, wait_until
from copycat_testkit.processes import command_line

pytestmark = pytest.mark.long

#: Each role in a process of its own.
APART = ("--set", "services.in.one.process=false")
SERVICES = {"config", "offset", "status", "scheduler", "executor", "gateway"}


@pytest.fixture
def up(commands: Commands, tmp_path: Path) -> Command:
    command = commands.start("up", "--rest-port", "0", "--data-dir", tmp_path / "data", *APART)
    command.wait_ready()
    return command


def bootstrap(data: Path) -> str:
    lines = (data / "worker.properties").read_text().splitlines()
    return next(line.partition("=")[2] for line in lines if line.startswith("embedded.bootstrap.servers="))


def test_a_drain_ends_the_gateway_first_and_the_broker_last(up: Command, journal: Any) -> None:
    processes = up.tree()
    assert up.end() == 0
    wait_gone(processes)
    drained = journal.drains()
    assert set(drained) == SERVICES
    assert drained[:3] == ["gateway", "executor", "scheduler"]
    assert "Traceback" not in up.said()


def test_an_interrupt_drains_as_well_also_where_a_script_started_us_with_it_ignored(
    commands: Commands, tmp_path: Path, journal: Any
) -> None:
    former = signal.signal(signal.SIGINT, signal.SIG_IGN)  # children inherit it
    try:
        up = commands.start("up", "--rest-port", "0", "--data-dir", tmp_path / "data", *APART)
    finally:
        signal.signal(signal.SIGINT, former)
    up.wait_ready()
    assert up.end(signal.SIGINT) == 0
    assert set(journal.drains()) == SERVICES


def test_a_role_that_dies_is_started_again(up: Command, journal: Any) -> None:
    os.kill(journal.starts("scheduler")[0], signal.SIGKILL)
    wait_until(lambda: len(journal.starts("scheduler")) == 2, 20, "a second scheduler")
    wait_until(lambda: "scheduler ended (killed by SIGKILL); starting it again" in up.said(), 5)
    assert up.end() == 0
    assert set(journal.drains()) == SERVICES


@pytest.mark.parametrize("role", sorted(SERVICES))
def test_a_role_that_hangs_is_killed_and_started_again(
    commands: Commands, tmp_path: Path, journal: Any, role: str
) -> None:
    limit = ["--set", "service.hang.timeout.ms=6000"]
    up = commands.start("up", "--rest-port", "0", "--data-dir", tmp_path / "data", *limit, *APART)
    up.wait_ready()
    frozen = psutil.Process(journal.starts(role)[0])
    frozen.suspend()
    wait_until(lambda: len(journal.starts(role)) == 2, 60, f"a second {role}")
    assert not frozen.is_running(), "it was ended before the next one was started"
    assert f"{role} hangs: it lives and answers nothing. It is killed." in up.said()
    assert up.end() == 0
    assert set(journal.drains()) == SERVICES


def test_a_broker_that_dies_comes_back_with_its_data_on_its_port(up: Command, tmp_path: Path) -> None:
    address = bootstrap(tmp_path / "data")
    topic = create_topic(address)
    produce(address, topic, [b"kept"])
    java = next(process for process in up.tree() if "kafka.Kafka" in command_line(process))
    java.send_signal(signal.SIGKILL)
    wait_until(lambda: "Kafka ended (killed by SIGKILL); starting it again" in up.said(), 20)
    assert [message.value() for message in consume_all(address, topic, timeout=30)] == [b"kept"]
    assert up.end() == 0


def test_a_launcher_killed_hard_takes_everything_with_it_and_can_be_started_again(
    up: Command, commands: Commands, tmp_path: Path
) -> None:
    processes = up.tree()
    assert up.end(signal.SIGKILL) == -signal.SIGKILL
    again = commands.start("up", "--rest-port", "0", "--data-dir", tmp_path / "data", *APART)
    again.wait_ready()
    wait_gone(processes)
    assert again.end() == 0


def test_more_executors_have_ports_of_their_own(commands: Commands, tmp_path: Path, journal: Any) -> None:
    data, executors = tmp_path / "data", ("--executors", "3")
    command = commands.start("up", "--rest-port", "0", "--data-dir", data, *executors)
    command.wait_ready()
    assert len(journal.starts("executor")) == 3
    assert command.end() == 0


def test_a_stop_while_starting_leaves_nothing(commands: Commands, tmp_path: Path, journal: Any) -> None:
    command = commands.start("up", "--rest-port", "0", "--data-dir", tmp_path / "data", *APART)
    wait_until((tmp_path / "data" / "logs" / "kafka.log").exists, 30, "a broker that starts")
    processes = command.tree()
    assert command.end() == 0
    wait_gone(processes)
    assert command.said() == "Stopping; press Ctrl-C again to stop without draining\n"


def test_a_second_ctrl_c_does_not_wait_for_the_drain(
    commands: Commands, tmp_path: Path, journal: Any
) -> None:
    data = tmp_path / "data"
    command = commands.start("up", "--rest-port", "0", "--data-dir", data, "--set", "executor.stubborn=yes")
    command.wait_ready()
    processes = command.tree()
    command.process.send_signal(signal.SIGINT)
    wait_until(lambda: "asked executor" in journal.lines(), 20, "a drain that hangs")
    assert command.end(signal.SIGINT) == 1
    assert "Stopped without draining" in command.said()
    wait_gone(processes)
