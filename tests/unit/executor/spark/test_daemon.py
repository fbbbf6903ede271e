"""The parent of the hosts: it loads all of ours and nothing of others, and forks for its own user alone."""

from __future__ import annotations

import json
import os
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest
from copycat_executor.spark.daemon import OwnSocket, owner_of

PROBE = """
import json, sys, threading
from copycat_executor.spark.daemon import preload
preload()
from copycat_connect.plugin import load_plugins
before = set(sys.modules)
load_plugins()
print(json.dumps({
    "threads": threading.active_count(),
    "loaded by a host": sorted(set(sys.modules) - before),
}))
"""


def test_a_host_finds_our_plugins_loaded_and_loads_those_of_others_itself(tmp_path: Path) -> None:
    (tmp_path / "stranger.py").write_text("raise SystemExit('not in the parent of the hosts')\n")
    about = tmp_path / "stranger-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: stranger\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[copycat.plugins]\nstranger = stranger\n")

    ran = subprocess.run(
        [sys.executable, "-c", PROBE],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    assert found["threads"] == 1
    assert not [name for name in found["loaded by a host"] if name.startswith("copycat_")]


#: The daemon as Spark starts it, but without what takes it a second to load.
SERVING = """
import sys
from copycat_executor.spark.daemon import OwnSocket, serve
OwnSocket.owner = int(sys.argv[1])
serve()
"""


@contextmanager
def daemon_of(owner: int) -> Iterator[tuple[psutil.Process, int]]:
    """Run the daemon of a user; gives its process and its port."""
    command = [sys.executable, "-c", SERVING, str(owner)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as started:
        assert started.stdin is not None
        assert started.stdout is not None
        (port,) = struct.unpack("!i", started.stdout.read(4))
        try:
            yield psutil.Process(started.pid), port
        finally:
            started.stdin.close()


def said_to(port: int) -> bytes:
    """Return what the daemon says to somebody who connects and keeps the connection."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        return connection.recv(4)


def test_the_daemon_forks_for_its_own_user() -> None:
    with daemon_of(os.getuid()) as (process, port), socket.create_connection(("127.0.0.1", port)) as asking:
        (child,) = struct.unpack("!i", asking.recv(4))

        assert [each.pid for each in process.children()] == [child]


def test_the_daemon_forks_for_nobody_else() -> None:
    with daemon_of(os.getuid() + 1) as (process, port):
        for _ in range(30):
            assert said_to(port) == b""

        assert process.children() == []
        assert process.is_running()


@pytest.mark.parametrize(
    ("family", "address"),
    [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1"), (socket.AF_INET, "127.0.0.9")],
)
def test_who_opened_a_connection_is_known(family: socket.AddressFamily, address: str) -> None:
    with socket.socket(family) as server:
        server.bind((address, 0))
        server.listen()
        with socket.create_connection(server.getsockname()[:2]) as client:
            connection, peer = server.accept()
            connection.close()

            assert owner_of(peer, server.getsockname()) == os.getuid()
            assert owner_of((*peer[:1], 1), server.getsockname()) == -1
            assert client.getsockname()[:2] == peer[:2]


def test_a_client_that_speaks_both_protocols_is_known_as_java_is() -> None:
    with OwnSocket(socket.AF_INET) as server, socket.socket(socket.AF_INET6) as client:
        server.bind(("127.0.0.1", 0))
        server.listen()
        client.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        client.connect(("::ffff:127.0.0.1", server.getsockname()[1]))

        connection, _ = server.accept()
        connection.close()
