"""A line that is cut holds everything back without a word; mended, it passes on what it held."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import pytest
from copycat_embedded.ports import LOOPBACK, free_ports
from copycat_testkit.wire import Wire

SECONDS = 60.0


@pytest.fixture
def echo() -> Iterator[int]:
    """Give the port of a server that sends back what it gets, a connection at a time."""
    with socket.create_server((LOOPBACK, 0)) as server:

        def serve() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection:
                    while chunk := connection.recv(1000):
                        connection.sendall(chunk)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield int(server.getsockname()[1])
        server.shutdown(socket.SHUT_RDWR)
    thread.join(SECONDS)


@pytest.fixture
def wire(echo: int) -> Iterator[Wire]:
    with Wire(free_ports(1)[0], echo) as running:
        yield running


def connect(wire: Wire) -> socket.socket:
    host, _, port = wire.address.rpartition(":")
    return socket.create_connection((host, int(port)), SECONDS)


def test_bytes_pass_both_ways(wire: Wire) -> None:
    with connect(wire) as user:
        user.sendall(b"one")
        assert user.recv(3, socket.MSG_WAITALL) == b"one"


def test_what_was_sent_while_it_was_cut_arrives_once_it_is_mended(wire: Wire) -> None:
    with connect(wire) as user:
        user.sendall(b"one")
        assert user.recv(3, socket.MSG_WAITALL) == b"one"
        wire.cut()
        user.sendall(b"two")
        user.settimeout(0.2)
        with pytest.raises(TimeoutError):
            user.recv(3)
        wire.mend()
        user.settimeout(SECONDS)
        assert user.recv(3, socket.MSG_WAITALL) == b"two"


def test_a_connection_made_while_it_is_cut_waits(wire: Wire) -> None:
    wire.cut()
    with connect(wire) as user:
        user.sendall(b"one")
        user.settimeout(0.2)
        with pytest.raises(TimeoutError):
            user.recv(3)
        wire.mend()
        user.settimeout(SECONDS)
        assert user.recv(3, socket.MSG_WAITALL) == b"one"


def test_an_end_that_closes_is_told_to_the_other(wire: Wire) -> None:
    with connect(wire) as user:
        user.shutdown(socket.SHUT_WR)
        assert user.recv(1) == b""
