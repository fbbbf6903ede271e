"""Config, offset, status and scheduler in one process, with a real broker and faked roles."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import psutil
import pytest
from copycat_launcher.worker_properties import write_properties
from copycat_rpc.role import read_properties
from copycat_testkit.commands import COPYCAT_WORKER, Command, Commands, wait_gone
from copycat_testkit.kafka import wait_until

pytestmark = pytest.mark.long

SERVICES = ("config", "offset", "status", "scheduler")
LIMIT = ("--set", "service.hang.timeout.ms=6000")


@pytest.fixture
def up(commands: Commands, tmp_path: Path) -> Command:
    command = commands.start("up", "--rest-port", "0", "--data-dir", tmp_path / "data", *LIMIT)
    command.wait_ready()
    return command


def pids(journal: Any) -> set[int]:
    """Return the processes that any of them ran in."""
    return {pid for role in SERVICES for pid in journal.starts(role)}


def test_one_process_serves_them_and_drains_the_scheduler_before_the_others(
    up: Command, journal: Any
) -> None:
    processes = up.tree()
    assert len(pids(journal)) == 1
    assert up.end() == 0
    wait_gone(processes)
    drained = journal.drains()
    assert drained[:3] == ["gateway", "executor", "scheduler"]
    assert sorted(drained[2:]) == sorted(SERVICES)


def test_it_is_started_again_with_all_of_them_when_it_dies(up: Command, journal: Any) -> None:
    os.kill(journal.starts("status")[0], signal.SIGKILL)
    for role in SERVICES:
        wait_until(lambda role=role: len(journal.starts(role)) == 2, 60, f"a second {role}")  # type: ignore[misc]
    assert len(pids(journal)) == 2
    assert "services ended (killed by SIGKILL); starting it again" in up.said()
    assert up.end() == 0


def test_it_is_killed_and_started_again_when_it_hangs(up: Command, journal: Any) -> None:
    frozen = psutil.Process(journal.starts("offset")[0])
    frozen.suspend()
    wait_until(lambda: len(journal.starts("offset")) == 2, 60, "a second offset service")
    assert not frozen.is_running(), "it was ended before the next one was started"
    assert "services hangs: it lives and answers nothing. It is killed." in up.said()
    assert up.end() == 0


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


def test_one_that_refuses_its_settings_ends_the_start(commands: Commands, tmp_path: Path) -> None:
    wrong = ("--set", "offset.fails=offset.x must be a number")
    code, said = commands.run("up", "--rest-port", "0", "--data-dir", tmp_path / "data", *wrong)
    assert code == 1
    assert "services did not start (code 1): copycat services: offset.x must be a number (fix" in said
    assert "Traceback" not in said


def test_a_worker_with_all_roles_shares_it_too(
    commands: Commands, up: Command, tmp_path: Path, journal: Any
) -> None:
    given = read_properties(tmp_path / "data" / "worker.properties")
    assert up.end() == 0
    write_properties(tmp_path / "own.properties", given, "As `copycat up` wrote it.")
    worker = commands.start(tmp_path / "own.properties", program=COPYCAT_WORKER)
    worker.wait_ready()
    assert len(pids(journal)) == 2
    assert worker.end() == 0
    assert sorted(journal.drains()) == sorted(2 * [*SERVICES, "executor", "gateway"])


def test_neither_true_nor_false_is_refused(commands: Commands, tmp_path: Path) -> None:
    wrong = ("--set", "services.in.one.process=maybe")
    code, said = commands.run("up", "--rest-port", "0", "--data-dir", tmp_path / "data", *wrong)
    assert code == 1
    assert "services.in.one.process" in said
    assert "Traceback" not in said
