"""Ports that are free, and ports that are not."""

from __future__ import annotations

import json
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
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where picked ports are noted, of this test alone."""
    place = tmp_path / "picked"
    monkeypatch.setattr(ports, "notebook", lambda: place)
    return place


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


@pytest.mark.parametrize("text", ["", "[1]", "no json", '{"x": 1}', '{"15001": null}'])
def test_a_file_of_another_make_is_written_anew(notes: Path, text: str) -> None:
    notes.write_text(text)

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
