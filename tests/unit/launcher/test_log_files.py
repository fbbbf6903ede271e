"""Logs of bounded size, whatever writes them."""

from __future__ import annotations

import asyncio
import stat
from pathlib import Path

import pytest
from copycat_embedded.guard import Guard
from copycat_launcher.log_files import FORMER_LOGS, keep_small, open_log, rotate
from copycat_launcher.role_process import RoleProcess
from copycat_testkit.eventually import eventually

from tests.unit.launcher.unwatched import unwatched

WRITES_WITHOUT_END = """
import os
number = 0
while True:
    os.write(1, b"%08d\\n" % number)
    number += 1
    if number % 1000 == 0 and os.path.exists("stop"):
        break
"""


def mode(file: Path) -> int:
    return stat.S_IMODE(file.stat().st_mode)


def test_a_log_is_for_its_owner_only_also_one_that_was_open_to_all(tmp_path: Path) -> None:
    old = tmp_path / "config.log"
    old.write_text("before\n")
    old.chmod(0o644)
    for file in (old, tmp_path / "status.log"):
        open_log(file).close()
        assert mode(file) == 0o600
    assert old.read_text() == "before\n"


def test_the_newest_former_logs_are_kept_and_the_oldest_goes(tmp_path: Path) -> None:
    log = tmp_path / "config.log"
    for number in range(FORMER_LOGS + 3):
        with open_log(log) as file:
            file.write(b"%d" % number)
        rotate(log)

    former = {each.name: each.read_text() for each in tmp_path.iterdir() if each != log}
    newest = FORMER_LOGS + 2
    assert former == {f"config.log.{place}": str(newest + 1 - place) for place in range(1, FORMER_LOGS + 1)}
    assert log.read_bytes() == b""
    assert mode(tmp_path / "config.log.1") == 0o600


async def test_a_program_that_goes_on_writing_keeps_its_log_small(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    log, most = tmp_path / "config.log", 100_000

    async def never() -> None:
        return None

    with Guard() as guard:
        role = RoleProcess(
            "config",
            ("-c", WRITES_WITHOUT_END),
            guard=guard,
            until_ready=never,
            watch=unwatched(),
            log_file=log,
        )
        await role.start()
        keeper = asyncio.create_task(keep_small(lambda: [log], most=most, seconds=0.01))
        try:
            await eventually((tmp_path / f"config.log.{FORMER_LOGS}").exists, 60)
        finally:
            (tmp_path / "stop").touch()
            await role.ended()
            keeper.cancel()
            await asyncio.gather(keeper, return_exceptions=True)

    assert not (tmp_path / f"config.log.{FORMER_LOGS + 1}").exists()
    newest = (tmp_path / "config.log.1").read_bytes()
    assert not newest.startswith(b"\0"), "the program goes on at the end of the emptied file"
    numbers = [int(line) for line in newest.split(b"\n")[1:-1]]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
