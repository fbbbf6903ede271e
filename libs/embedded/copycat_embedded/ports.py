"""Free loopback ports."""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import socket
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from copycat_embedded.places import private_folders

LOOPBACK = "127.0.0.1"
LOWEST, HIGHEST = 15_000, 32_000
"""Below what systems hand to outgoing connections: no client takes a picked port before its server does."""
KEPT_SECONDS = 900.0
"""How long a picked port is not picked again: its server may start late, or be started again."""

MAX_NOTES_BYTES = 1_000_000
"""Bytes of the file that are read: all ports take half of it."""
LOCK_SECONDS = 5.0
"""Seconds to wait for the file; a process that was stopped while it had it keeps nobody longer."""
LOCK_POLL_SECONDS = 0.02
"""Seconds between two tries to get it."""


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


def notebook() -> Path | None:
    """Return the file in which this user's processes note the ports they picked, where there is a place.

    It lies in a folder that nobody else may write, since whoever could might hold the file for ever.
    """
    for folder in private_folders():
        with suppress(OSError):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            found = folder.lstat()
            if stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o022:
                return folder / "ports"
    return None


@contextmanager
def _picked_lately() -> Iterator[dict[int, float]]:
    """Give the ports picked lately, with the time until which each is kept; what is added is noted.

    One process at a time; where no file can be kept, each process knows nothing of others.
    """
    file = _opened(notebook())
    if file is None:
        yield {}
        return
    try:
        kept = _read(os.pread(file, MAX_NOTES_BYTES + 1, 0))
        yield kept
        with suppress(OSError):  # a full disk: others may pick the same ports, and say so
            os.ftruncate(file, 0)
            os.pwrite(file, json.dumps(kept).encode(), 0)
    finally:
        os.close(file)


def _opened(place: Path | None) -> int | None:
    """Return the file, locked; nothing where it is not ours, or whoever has it does not let go."""
    if place is None:
        return None
    try:
        # Nonblocking, since to open a pipe waits for its other end.
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        file = os.open(place, flags, 0o600)
    except OSError:
        return None
    try:
        found = os.fstat(file)
        if stat.S_ISREG(found.st_mode) and found.st_uid == os.getuid() and _locked(file):
            return file
    except OSError:
        pass  # a file system without locks
    os.close(file)
    return None


def _locked(file: int) -> bool:
    give_up = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > give_up:
                return False
            time.sleep(LOCK_POLL_SECONDS)
        else:
            return True


def _read(text: bytes) -> dict[int, float]:
    """Return what counts still; nothing where half of the ports are kept, or the file is of another make."""
    now = time.time()
    if len(text) > MAX_NOTES_BYTES:
        return {}
    try:
        kept = {int(port): float(until) for port, until in json.loads(text).items() if float(until) > now}
    except (ValueError, TypeError, AttributeError, OverflowError, RecursionError):
        return {}
    return kept if len(kept) < (HIGHEST - LOWEST) // 2 else {}
