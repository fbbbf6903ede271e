"""What an embedded broker needs: its files, free ports, a guard that ends what is left of it."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest
from copycat_embedded import ports
from copycat_embedded.broker import EmbeddedKafka
from copycat_embedded.broker_files import FIRST_METADATA, format_log_folder, write_broker_properties
from copycat_embedded.guard import Guard
from copycat_embedded.ports import free_ports, is_free
from copycat_embedded.private_listener import PrivateListener


def properties(file: Path) -> dict[str, str]:
    pairs = (line.partition("=") for line in file.read_text().splitlines())
    return {key: value for key, _, value in pairs}


def test_a_new_folder_is_formatted_with_ids_of_its_own(tmp_path: Path) -> None:
    format_log_folder(tmp_path / "a")
    format_log_folder(tmp_path / "b")
    first, second = (properties(tmp_path / each / "meta.properties") for each in "ab")
    assert first["version"] == "1"
    assert len(first["cluster.id"]) == 22
    assert first["cluster.id"] != second["cluster.id"]
    assert (tmp_path / "a" / FIRST_METADATA).stat().st_size == 411


def test_a_formatted_folder_stays_as_it_is(tmp_path: Path) -> None:
    format_log_folder(tmp_path)
    before = (tmp_path / "meta.properties").read_text()
    (tmp_path / FIRST_METADATA).unlink()
    format_log_folder(tmp_path)
    assert (tmp_path / "meta.properties").read_text() == before
    assert not (tmp_path / FIRST_METADATA).exists()


def test_every_listener_is_on_loopback(tmp_path: Path) -> None:
    write_broker_properties(tmp_path / "server.properties", tmp_path / "log", 4711, 4712)
    written = properties(tmp_path / "server.properties")
    assert written["listeners"] == "PLAINTEXT://127.0.0.1:4711,CONTROLLER://127.0.0.1:4712"
    assert written["controller.quorum.voters"] == "1@127.0.0.1:4712"


def test_settings_of_the_caller_win(tmp_path: Path) -> None:
    file = tmp_path / "server.properties"
    write_broker_properties(file, tmp_path / "log", 4711, 4712, {"num.io.threads": "7", "new": "1"})
    assert (properties(file)["num.io.threads"], properties(file)["new"]) == ("7", "1")


def test_a_full_disk_is_told_with_the_folder_that_lies_on_it(tmp_path: Path) -> None:
    said = EmbeddedKafka(tmp_path).full_disk(least=sys.maxsize)
    assert said.startswith(f"no space is left where its data lies ({tmp_path}: ")
    assert EmbeddedKafka(tmp_path).full_disk(least=0) == ""


def test_a_folder_that_is_not_there_yet_says_nothing(tmp_path: Path) -> None:
    assert EmbeddedKafka(tmp_path / "nowhere").full_disk(least=sys.maxsize) == ""


def test_a_private_listener_asks_for_a_login_and_so_does_the_controller(
    tmp_path: Path,
) -> None:
    file, private = tmp_path / "server.properties", PrivateListener(4713, "guessless")
    write_broker_properties(file, tmp_path / "log", 4711, 4712, private=private)
    written = properties(file)
    protocols = dict(pair.split(":") for pair in written["listener.security.protocol.map"].split(","))

    assert written["listeners"].split(",")[1] == "COPYCAT://127.0.0.1:4713"
    assert protocols == {
        "PLAINTEXT": "PLAINTEXT",
        "COPYCAT": "SASL_PLAINTEXT",
        "CONTROLLER": "SASL_PLAINTEXT",
    }
    assert written["super.users"] == "User:copycat"
    assert file.stat().st_mode & 0o077 == 0
    assert "guessless" not in repr(private)


def test_each_private_listener_has_a_password_of_its_own() -> None:
    first, second = PrivateListener.new(), PrivateListener.new()
    assert first.password != second.password
    assert len(first.password) == 64


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


SLEEPER = ["/bin/sh", "-c", "exec sleep 60"]


def test_what_is_watched_ends_with_the_guard() -> None:
    child = subprocess.Popen(SLEEPER, start_new_session=True)
    reaper = threading.Thread(target=child.wait)  # as init would: the guard waits until the group is gone
    reaper.start()
    with Guard() as guard:
        guard.watch(child.pid)
    reaper.join(10)
    assert child.returncode == -signal.SIGTERM


def test_what_a_dead_leader_left_in_its_group_ends_too() -> None:
    leader = subprocess.Popen(
        ["/bin/sh", "-c", "sleep 60 & echo $!"], stdout=subprocess.PIPE, start_new_session=True
    )
    assert leader.stdout is not None
    left = psutil.Process(int(leader.stdout.readline()))
    leader.stdout.close()
    leader.wait()
    with Guard() as guard:
        guard.watch(leader.pid)
    left.wait(10)
    assert not left.is_running()


def test_what_was_forgotten_lives_on() -> None:
    child = subprocess.Popen(SLEEPER, start_new_session=True)
    with Guard() as guard:
        guard.watch(child.pid)
        guard.forget(child.pid)
    assert child.poll() is None
    child.kill()
    child.wait()
