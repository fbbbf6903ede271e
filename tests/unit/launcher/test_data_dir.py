"""The data directory: one run at a time, for its owner only, with logs of bounded size."""

from __future__ import annotations

import asyncio
import os
import stat
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from copycat_embedded.guard import Guard
from copycat_launcher.data_dir import DataDir
from copycat_launcher.errors import StartError
from copycat_launcher.log_files import FORMER_LOGS, keep_small, open_log, rotate
from copycat_launcher.role_process import RoleProcess
from copycat_testkit.eventually import eventually

from tests.unit.launcher.test_role_process import unwatched


def a_child(script: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(["/bin/sh", "-c", script], start_new_session=True)


async def test_a_second_run_is_refused_naming_the_first(tmp_path: Path) -> None:
    async with DataDir(tmp_path).locked():
        with pytest.raises(StartError, match=rf"in use by another copycat \(process {os.getpid()}\)"):
            async with DataDir(tmp_path).locked():
                pass


async def test_a_run_after_another_may_use_it(tmp_path: Path) -> None:
    for _ in range(2):
        async with DataDir(tmp_path / "data").locked():
            assert (tmp_path / "data" / "lock").read_text() == f"{os.getpid()}\n"


async def test_what_a_dead_run_left_is_waited_for(tmp_path: Path) -> None:
    child = a_child("exec sleep 60")
    threading.Thread(target=child.wait).start()
    folder = DataDir(tmp_path)
    async with folder.locked() as lock:
        guard = Guard(holding=(lock,))
        guard.watch(child.pid)
    dead = a_child("exit 0")
    dead.wait()
    (tmp_path / "lock").write_text(f"{dead.pid}\n")
    closing = asyncio.create_task(asyncio.to_thread(guard.close))  # as the system does for a dead owner
    async with folder.locked():
        assert child.poll() is not None
    await closing


async def test_a_folder_that_cannot_be_made_is_refused_with_the_fix(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StartError, match="Name a folder you may write"):
        async with DataDir(tmp_path / "file" / "data").locked():
            pass


@pytest.fixture
def careless_umask() -> Iterator[None]:
    """Of a user who shares everything by default."""
    before = os.umask(0)
    yield
    os.umask(before)


def modes(root: Path) -> dict[str, str]:
    """Return the rights of a folder and all in it."""
    return {
        str(path.relative_to(root.parent)): stat.filemode(path.lstat().st_mode)
        for path in (root, *root.rglob("*"))
    }


@pytest.mark.usefixtures("careless_umask")
async def test_a_new_directory_is_for_its_owner_only(tmp_path: Path) -> None:
    async with DataDir(tmp_path / "new" / "data").locked():
        assert modes(tmp_path / "new" / "data") == {
            "data": "drwx------",
            "data/kafka": "drwx------",
            "data/logs": "drwx------",
            "data/lock": "-rw-------",
        }


@pytest.mark.usefixtures("careless_umask")
async def test_a_directory_of_an_earlier_run_is_closed_to_others(tmp_path: Path) -> None:
    root = tmp_path / "data"
    for folder in ("kafka/log", "logs", "orders"):
        (root / folder).mkdir(parents=True)
    for file in ("lock", "worker.properties", "logs/config.log", "kafka/log/meta.properties", "orders/lock"):
        (root / file).write_text("")

    async with DataDir(root).locked():
        assert {text[4:] for text in modes(root).values()} == {"------"}


@pytest.mark.usefixtures("careless_umask")
async def test_a_directory_shared_with_others_stays_open_but_for_what_is_ours(tmp_path: Path) -> None:
    root = tmp_path / "shared"
    (root / "kafka").mkdir(parents=True)
    for file in ("somebody's", "worker.properties", "kafka/segment"):
        (root / file).write_text("")

    async with DataDir(root).locked():
        found = modes(root)

    assert {name for name, rights in found.items() if rights[4:] != "------"} == {
        "shared",
        "shared/somebody's",
    }


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
