"""Locks on files: they end with the process that holds them, and not before."""

from __future__ import annotations

import errno
import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from copycat_connect.errors import ConnectError

#: Another process may be copying the file at this moment, which takes its time.
_OPENING_PATIENCE_SECONDS = 60.0
_PAUSE_SECONDS = 0.02
_NO_LOCKS = frozenset({errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS})

Wait = Callable[[float], bool]


def try_lock(descriptor: int) -> bool:
    """Lock an open file for this process alone; False when another has it.

    Raises:
        ConnectError: The file system has no locks.
    """
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
        message = "The file system has no locks (flock), and delivery.guarantee=exactly_once needs them"
        raise ConnectError(message) from error
    return True


def lock(descriptor: int, wait: Wait, seconds: float) -> bool:
    """Lock an open file; False when another had it all the time, or until `wait` said not to wait."""
    until = time.monotonic() + seconds
    while not try_lock(descriptor):
        if time.monotonic() >= until or wait(_PAUSE_SECONDS):
            return False
    return True


@contextmanager
def locked(path: Path, wait: Wait) -> Iterator[None]:
    """Hold the lock of a file that is made for it.

    Raises:
        ConnectError: Another process has it and keeps it.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        if not lock(descriptor, wait, _OPENING_PATIENCE_SECONDS):
            message = f"Another process is opening the file and does not end: it holds the lock of {path}"
            raise ConnectError(message)
        yield
    finally:
        os.close(descriptor)
