"""One run at a time on a data directory."""

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
