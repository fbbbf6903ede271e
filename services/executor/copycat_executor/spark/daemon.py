"""The parent of the hosts on a machine: loads once what every host needs, then forks one for each.

Spark starts it as `spark.python.daemon.module`. A host forked from it takes 0.5 s of CPU less to start and
shares half of its 75 MB with the others.

PySpark's daemon listens on loopback and forks for whoever connects; only the fork asks for the secret. Here
connections of other users of the machine are closed before that.
"""

from __future__ import annotations

import ctypes
import errno
import gc
import importlib
import os
import socket
import sys
from contextlib import suppress
from importlib.metadata import entry_points
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

from copycat_connect.plugin.loading import ENTRY_POINTS

#: Nothing here may start a thread when imported: a fork keeps only the thread that forks.
PRELOADED = (
    "pyspark.worker",
    "copycat_executor.taskhost.entry",
    "copycat_executor.spark.worker",
)
#: Of Linux's prctl.
PR_SET_CHILD_SUBREAPER: Final = 36
#: The packages of plugins that come with Copycat. Those of others are code that may do anything when it is
#: loaded: only a host, which can be lost, loads them.
OWN_PLUGINS = frozenset(
    {"copycat-jdbc", "copycat-mirror", "copycat-objects", "copycat-plugins", "copycat-registry"}
)
#: Where Linux lists the connections of this machine; Java's are in the second, to IPv4's addresses as well.
CONNECTIONS = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
_UID_COLUMN = 7


class OwnSocket(socket.socket):
    """A socket that accepts connections of one user alone."""

    owner = os.getuid()
    """Whose connections are accepted: those of Spark's JVM, which runs as we do."""

    def accept(self) -> tuple[socket.socket, Any]:
        """Accept a connection.

        Raises:
            InterruptedError: It is somebody else's, and closed; PySpark's daemon then waits for the next one.
        """
        connection, address = super().accept()
        if self.family == socket.AF_UNIX or owner_of(address, self.getsockname()) in (self.owner, None):
            return connection, address
        connection.close()
        raise InterruptedError(errno.EINTR, "a connection of another user was closed")


def owner_of(client: tuple[Any, ...], server: tuple[Any, ...]) -> int | None:
    """Return the user who opened a connection of this machine; -1 once it is gone, None if nobody knows."""
    pairs = {(here, there) for here in _written(client) for there in _written(server)}
    found = None
    for place in CONNECTIONS:
        with suppress(OSError):
            lines = place.read_text("ascii").splitlines()[1:]
            found = -1
            for fields in map(str.split, lines):
                if (fields[1], fields[2]) in pairs:
                    return int(fields[_UID_COLUMN])
    return found


def _written(address: tuple[Any, ...]) -> list[str]:
    """Return an address as the lists have it, in words of the processor's byte order."""
    host, port = address[:2]
    if ":" in host:
        forms = [socket.inet_pton(socket.AF_INET6, host)]
    else:
        short = socket.inet_aton(host)
        forms = [short, b"\0" * 10 + b"\xff\xff" + short]
    return [
        "".join(f"{int.from_bytes(form[at : at + 4], sys.byteorder):08X}" for at in range(0, len(form), 4))
        + f":{port:04X}"
        for form in forms
    ]


def preload() -> None:
    """Import what every host needs; a plugin that cannot be imported is for the host to report."""
    for name in PRELOADED:
        importlib.import_module(name)
    for entry_point in entry_points(group=ENTRY_POINTS):
        if entry_point.dist is not None and entry_point.dist.name in OWN_PLUGINS:
            with suppress(Exception):
                importlib.import_module(entry_point.module)


def leave_zips() -> None:
    """Import PySpark from its installed package and not from the zip files Spark puts on the path.

    A worker drops Python's path caches at each start (`invalidate_caches`); then the directory of each zip is
    read again, in Python: 0.1 s for Spark's.
    """
    sys.path[:] = [place for place in sys.path if not place.endswith((".zip", ".jar"))]
    for place in [place for place in sys.path_importer_cache if ".zip" in place or ".jar" in place]:
        del sys.path_importer_cache[place]


def adopt_orphans() -> None:
    """Become the parent of what hosts leave behind, the readers of their output among it.

    In a container they would go to a process 1 that waits for no child. PySpark's daemon ignores SIGCHLD, so
    the kernel removes them when they end.
    """
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def main() -> None:
    """Preload, then serve Spark's requests for workers until it closes our input."""
    leave_zips()
    preload()
    gc.collect()
    gc.freeze()  # keeps the shared pages shared: the collector writes into every object it visits
    adopt_orphans()
    serve()


def serve() -> None:
    """Run PySpark's daemon on a socket of ours."""
    daemon = importlib.import_module("pyspark.daemon")
    vars(daemon)["socket"] = SimpleNamespace(**{**vars(socket), "socket": OwnSocket})
    daemon.manager()


if __name__ == "__main__":
    main()
