"""Ports that are free, and ports that are not."""

from __future__ import annotations

import socket

from copycat_embedded.ports import free_ports, is_free


def test_picked_ports_differ() -> None:
    assert len(set(free_ports(20))) == 20


def test_a_listening_server_occupies_its_port() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        assert not is_free(server.getsockname()[1])


def test_a_port_nobody_has_is_free() -> None:
    assert is_free(free_ports(1)[0])
