"""Ports that are free, and ports that are not."""

from __future__ import annotations

import fcntl
import json
import os
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from copycat_embedded import ports
from copycat_embedded.ports import free_ports, is_free


def test_picked_ports_differ() -> None:
    assert len(set(free_ports(20))) == 20


def test_a_listening_server_occupies_its_port() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        assert not is_free(server.getsockname()[1])


def test_a_port_nobody_has_is_free() -> None:
    assert is_free(free_ports(1)[0])


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Where picked ports may be noted, of this test alone."""
    places = (tmp_path / "best", tmp_path / "next")
    monkeypatch.setattr(ports, "private_folders", lambda: places)
    return places


@pytest.fixture
def notes(folders: tuple[Path, Path]) -> Path:
    """Where they are noted, while nothing is wrong."""
    folders[0].mkdir(mode=0o700)
    return folders[0] / "ports"


def test_a_port_is_not_picked_again_though_its_server_has_not_begun_to_listen(
    notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ports, "HIGHEST", ports.LOWEST + 200)
    monkeypatch.setattr(ports, "is_free", lambda port: True)
    with ThreadPoolExecutor(8) as several:
        picked = [port for found in several.map(free_ports, [5] * 10) for port in found]

    assert len(set(picked)) == 50
    assert set(json.loads(notes.read_text())) == {str(port) for port in picked}
    assert notes.stat().st_mode & 0o077 == 0


def test_ports_are_kept_for_a_while_only(notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ports, "KEPT_SECONDS", -1.0)
    free_ports(3)
    (last,) = free_ports(1)

    assert list(json.loads(notes.read_text())) == [str(last)]


@pytest.mark.parametrize(
    "text",
    [
        *(b"", b"[1]", b"no json", b'{"x": 1}', b'{"15001": null}', b"\xff", b"[" * 100_000),
        *(b'{"15001": 1' + b"0" * 400 + b"}", b'{"15001": 1' + b"0" * 5_000 + b"}", b" " * 2_000_000 + b"{}"),
    ],
    ids=lambda text: repr(text[:12]),
)
def test_a_file_of_another_make_is_written_anew(notes: Path, text: bytes) -> None:
    notes.write_bytes(text)

    (port,) = free_ports(1)
    assert list(json.loads(notes.read_text())) == [str(port)]


def test_where_most_ports_are_kept_all_may_be_picked_again(notes: Path) -> None:
    until = time.time() + 60
    notes.write_text(json.dumps(dict.fromkeys(range(ports.LOWEST, ports.HIGHEST), until)))

    assert len(free_ports(2)) == 2


def test_a_link_in_place_of_the_file_is_not_followed(notes: Path, tmp_path: Path) -> None:
    target = tmp_path / "of another user"
    notes.symlink_to(target)

    assert len(free_ports(2)) == 2
    assert not target.exists()


def test_a_pipe_in_place_of_the_file_holds_nobody_up(notes: Path) -> None:
    os.mkfifo(notes)

    assert len(free_ports(2)) == 2


def test_a_file_that_is_never_let_go_holds_nobody_up(notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ports, "LOCK_SECONDS", 0.1)
    with notes.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)

        assert len(free_ports(2)) == 2


def test_a_folder_that_others_may_write_is_not_used(folders: tuple[Path, Path]) -> None:
    best, following = folders
    best.mkdir()
    best.chmod(0o777)

    free_ports(1)

    assert list(best.iterdir()) == []
    assert (following / "ports").is_file()
    assert following.stat().st_mode & 0o777 == 0o700


def test_a_folder_of_somebody_else_is_not_used(folders: tuple[Path, Path], tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    for folder in folders:
        folder.symlink_to(elsewhere)

    assert len(free_ports(2)) == 2
    assert list(elsewhere.iterdir()) == []


def test_the_file_lies_in_no_folder_of_everybody() -> None:
    place = ports.notebook()

    assert place is not None
    assert place.parent.stat().st_uid == os.getuid()
    assert place.parent.stat().st_mode & 0o022 == 0
