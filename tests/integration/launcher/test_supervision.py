"""The commands with a real broker and faked roles: starts, restarts, one process for four, drains."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import psutil
import pytest
from copycat_embedded.ports import free_ports
from copycat_launcher.worker_properties import write_properties
from copycat_rpc.role import read_properties
from copycat_testkit.commands import COPYCAT_WORKER, Command, Commands, wait_gone
from copycat_testkit.kafka import consume_all, create_topic, produce, wait_until
from copycat_testkit.processes import command_line

ROLES = ("config", "offset", "status", "scheduler", "executor")


@pytest.fixture
def worker(tmp_path: Path) -> Path:
    """Write a worker's properties with ports of its own."""
    rest, *ports = free_ports(len(ROLES) + 1)
    lines = [f"{role}.listen=127.0.0.1:{port}" for role, port in zip(ROLES, ports, strict=True)]
    lines += ["services.in.one.process=false"]
    lines += [f"{name}.storage.topic={name}" for name in ("config", "offset", "status")]
    lines += [f"listeners=http://127.0.0.1:{rest}", "group.id=g", "key.converter=k", "value.converter=v"]
    file = tmp_path / "worker.properties"
    file.write_text("\n".join(lines))
    return file


@pytest.mark.row("K26-32")
def test_one_role_is_this_very_process(commands: Commands, worker: Path, journal: Any) -> None:
    command = commands.start(worker, "--role", "status", program=COPYCAT_WORKER)
    wait_until(lambda: journal.starts("status"), 20, "the status service")
    assert journal.starts("status") == [command.process.pid]
    assert command.end() == 0
    assert journal.drains() == ["status"]


@pytest.mark.long
def test_all_roles_are_supervised(commands: Commands, worker: Path, journal: Any) -> None:
    command = commands.start(worker, program=COPYCAT_WORKER)
    command.wait_ready()
    processes = command.tree()
    assert command.end() == 0
    wait_gone(processes)
    assert journal.drains()[:3] == ["gateway", "executor", "scheduler"]


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


@pytest.mark.long
def test_a_drain_ends_the_gateway_first_and_the_broker_last(up: Command, journal: Any) -> None:
    processes = up.tree()
    assert up.end() == 0
    wait_gone(processes)
    drained = journal.drains()
    assert set(drained) == SERVICES
    assert drained[:3] == ["gateway", "executor", "scheduler"]
    assert "Traceback" not in up.said()


@pytest.mark.long
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


@pytest.mark.long
def test_a_role_that_dies_is_started_again(up: Command, journal: Any) -> None:
    os.kill(journal.starts("scheduler")[0], signal.SIGKILL)
    wait_until(lambda: len(journal.starts("scheduler")) == 2, 20, "a second scheduler")
    wait_until(lambda: "scheduler ended (killed by SIGKILL); starting it again" in up.said(), 5)
    assert up.end() == 0
    assert set(journal.drains()) == SERVICES


@pytest.mark.long
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


@pytest.mark.long
def test_a_broker_that_dies_comes_back_with_its_data_on_its_port(up: Command, tmp_path: Path) -> None:
    address = bootstrap(tmp_path / "data")
    topic = create_topic(address)
    produce(address, topic, [b"kept"])
    java = next(process for process in up.tree() if "kafka.Kafka" in command_line(process))
    java.send_signal(signal.SIGKILL)
    wait_until(lambda: "Kafka ended (killed by SIGKILL); starting it again" in up.said(), 20)
    assert [message.value() for message in consume_all(address, topic, timeout=30)] == [b"kept"]
    assert up.end() == 0


@pytest.mark.long
def test_a_launcher_killed_hard_takes_everything_with_it_and_can_be_started_again(
    up: Command, commands: Commands, tmp_path: Path
) -> None:
    processes = up.tree()
    assert up.end(signal.SIGKILL) == -signal.SIGKILL
    again = commands.start("up", "--rest-port", "0", "--data-dir", tmp_path / "data", *APART)
    again.wait_ready()
    wait_gone(processes)
    assert again.end() == 0


@pytest.mark.long
def test_more_executors_have_ports_of_their_own(commands: Commands, tmp_path: Path, journal: Any) -> None:
    data, executors = tmp_path / "data", ("--executors", "3")
    command = commands.start("up", "--rest-port", "0", "--data-dir", data, *executors)
    command.wait_ready()
    assert len(journal.starts("executor")) == 3
    assert command.end() == 0


@pytest.mark.long
def test_a_stop_while_starting_leaves_nothing(commands: Commands, tmp_path: Path, journal: Any) -> None:
    command = commands.start("up", "--rest-port", "0", "--data-dir", tmp_path / "data", *APART)
    wait_until((tmp_path / "data" / "logs" / "kafka.log").exists, 30, "a broker that starts")
    processes = command.tree()
    assert command.end() == 0
    wait_gone(processes)
    assert command.said() == "Stopping; press Ctrl-C again to stop without draining\n"


@pytest.mark.long
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


SHARING = ("config", "offset", "status", "scheduler")
LIMIT = ("--set", "service.hang.timeout.ms=6000")


@pytest.fixture
def sharing(commands: Commands, tmp_path: Path) -> Command:
    command = commands.start("up", "--rest-port", "0", "--data-dir", tmp_path / "data", *LIMIT)
    command.wait_ready()
    return command


def pids(journal: Any) -> set[int]:
    """Return the processes that any of them ran in."""
    return {pid for role in SHARING for pid in journal.starts(role)}


@pytest.mark.long
def test_one_process_serves_them_and_drains_the_scheduler_before_the_others(
    sharing: Command, journal: Any
) -> None:
    processes = sharing.tree()
    assert len(pids(journal)) == 1
    assert sharing.end() == 0
    wait_gone(processes)
    drained = journal.drains()
    assert drained[:3] == ["gateway", "executor", "scheduler"]
    assert sorted(drained[2:]) == sorted(SHARING)


@pytest.mark.long
def test_it_is_started_again_with_all_of_them_when_it_dies(sharing: Command, journal: Any) -> None:
    os.kill(journal.starts("status")[0], signal.SIGKILL)
    for role in SHARING:
        wait_until(lambda role=role: len(journal.starts(role)) == 2, 60, f"a second {role}")  # type: ignore[misc]
    assert len(pids(journal)) == 2
    assert "services ended (killed by SIGKILL); starting it again" in sharing.said()
    assert sharing.end() == 0


@pytest.mark.long
def test_it_is_killed_and_started_again_when_it_hangs(sharing: Command, journal: Any) -> None:
    frozen = psutil.Process(journal.starts("offset")[0])
    frozen.suspend()
    wait_until(lambda: len(journal.starts("offset")) == 2, 60, "a second offset service")
    assert not frozen.is_running(), "it was ended before the next one was started"
    assert "services hangs: it lives and answers nothing. It is killed." in sharing.said()
    assert sharing.end() == 0


@pytest.mark.long
def test_one_that_ends_on_its_own_ends_the_process_after_the_others_have_drained(
    commands: Commands, tmp_path: Path, journal: Any
) -> None:
    why = ("--set", "status.ends=the log is gone")
    up = commands.start("up", "--rest-port", "0", "--data-dir", tmp_path / "data", *why)
    up.wait_ready()
    wait_until(lambda: len(journal.starts("config")) >= 2, 60, "a second start")
    assert {"config", "offset", "scheduler"} <= set(journal.drains())
    assert "copycat services: the log is gone" in (tmp_path / "data" / "logs" / "services.log").read_text()
    assert up.end() == 0


@pytest.mark.long
def test_one_that_refuses_its_settings_ends_the_start(commands: Commands, tmp_path: Path) -> None:
    wrong = ("--set", "offset.fails=offset.x must be a number")
    code, said = commands.run("up", "--rest-port", "0", "--data-dir", tmp_path / "data", *wrong)
    assert code == 1
    assert "services did not start (code 1): copycat services: offset.x must be a number (fix" in said
    assert "Traceback" not in said


@pytest.mark.long
def test_a_worker_with_all_roles_shares_it_too(
    commands: Commands, sharing: Command, tmp_path: Path, journal: Any
) -> None:
    given = read_properties(tmp_path / "data" / "worker.properties")
    assert sharing.end() == 0
    write_properties(tmp_path / "own.properties", given, "As `copycat up` wrote it.")
    worker = commands.start(tmp_path / "own.properties", program=COPYCAT_WORKER)
    worker.wait_ready()
    assert len(pids(journal)) == 2
    assert worker.end() == 0
    assert sorted(journal.drains()) == sorted(2 * [*SHARING, "executor", "gateway"])


@pytest.mark.long
def test_neither_true_nor_false_is_refused(commands: Commands, tmp_path: Path) -> None:
    wrong = ("--set", "services.in.one.process=maybe")
    code, said = commands.run("up", "--rest-port", "0", "--data-dir", tmp_path / "data", *wrong)
    assert code == 1
    assert "services.in.one.process" in said
    assert "Traceback" not in said
