"""Free loopback ports."""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import socket
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

LOOPBACK = "127.0.0.1"
LOWEST, HIGHEST = 15_000, 32_000
"""Below what systems hand to outgoing connections: no client takes a picked port before its server does."""
KEPT_SECONDS = 900.0
"""How long a picked port is not picked again: its server may start late, or be started again."""


def free_ports(count: int) -> tuple[int, ...]:
    """Return ports nobody listens on now, all different, and none that this user picked a moment ago.

    So systems that start at the same time do not take each other's ports. A program that picks its ports
    otherwise may still be quicker.
    """
    picked: list[int] = []
    with _picked_lately() as kept:
        while len(picked) < count:
            port = LOWEST + secrets.randbelow(HIGHEST - LOWEST)
            if port not in kept and is_free(port):
                kept[port] = time.time() + KEPT_SECONDS
                picked.append(port)
    return tuple(picked)


def is_free(port: int) -> bool:
    """Return whether a server could listen on this loopback port now."""
    with socket.socket() as attempt:
        attempt.setsockopt(
            socket.SOL_SOCKET, socket.SO_REUSEADDR, 1
        )  # a port in TIME_WAIT is free for a server
        try:
            attempt.bind((LOOPBACK, port))
        except OSError:
            return False
        return True


def notebook() -> Path:
    """Return the file in which this user's processes note the ports they picked."""
    return Path(tempfile.gettempdir()) / f"copycat-ports-{os.getuid()}"


@contextmanager
def _picked_lately() -> Iterator[dict[int, float]]:
    """Give the ports picked lately, with the time until which each is kept; what is added is noted.

    One process at a time; where no file can be kept, each process knows nothing of others.
    """
    try:
        file = os.open(notebook(), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError:
        yield {}
        return
    with os.fdopen(file, "r+") as notes:
        fcntl.flock(notes, fcntl.LOCK_EX)
        kept = _read(notes.read())
        yield kept
        notes.seek(0)
        notes.truncate()
        json.dump(kept, notes)


def _read(text: str) -> dict[int, float]:
    """Return what counts still; nothing where half of the ports are kept, or the file is of another make."""
    now = time.time()
    try:
        kept = {int(port): float(until) for port, until in json.loads(text).items() if float(until) > now}
    except (ValueError, TypeError, AttributeError):
        return {}
    return kept if len(kept) < (HIGHEST - LOWEST) // 2 else {}
