"""The log files of programs: for their owner only, and of bounded size while the programs write."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Final

MAX_LOG_BYTES: Final = 16 * 1024 * 1024
#: Former logs that are kept beside the current one, as NAME.log.1 (the newest) to NAME.log.4.
FORMER_LOGS: Final = 4
LOOK_SECONDS: Final = 2.0
OWNER_ONLY: Final = 0o600


def open_log(file: Path) -> BinaryIO:
    """Open a log to be continued; every write of a program goes to its end, wherever that is by then."""
    descriptor = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, OWNER_ONLY)
    os.fchmod(descriptor, OWNER_ONLY)  # an older one may be open to all
    return os.fdopen(descriptor, "ab")


async def keep_small(
    files: Callable[[], Iterable[Path]], *, most: int = MAX_LOG_BYTES, seconds: float = LOOK_SECONDS
) -> None:
    """Begin anew each log that has grown beyond `most` bytes, until cancelled."""
    while True:
        with suppress(OSError):  # a full disk, say: programs go on, and it is tried again
            await asyncio.to_thread(_rotate_large, files, most)
        await asyncio.sleep(seconds)


def _rotate_large(files: Callable[[], Iterable[Path]], most: int) -> None:
    for file in files():
        if _size(file) > most:
            rotate(file)


def rotate(file: Path) -> None:
    """Keep what a log holds as NAME.1, the former ones one number higher, and empty it.

    It is copied, not renamed, since the programs that write it, Spark's JVM among them, hold it open.
    """
    for number in range(FORMER_LOGS, 1, -1):
        former = _former(file, number - 1)
        if former.exists():
            former.replace(_former(file, number))
    newest = _former(file, 1)
    newest.unlink(missing_ok=True)
    with file.open("rb+") as current, open_log(newest) as kept:
        copied = -1
        while copied != os.fstat(current.fileno()).st_size:  # written meanwhile: copy that as well
            shutil.copyfileobj(current, kept)
            copied = current.tell()
        current.truncate(0)


def _former(file: Path, number: int) -> Path:
    return file.with_name(f"{file.name}.{number}")


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0
