"""Files of numbered lines, written exactly once, and children that are killed while they write them."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

from copycat_connect.data import TopicPartition
from copycat_plugins.connectors.file_stream_sink.exact_file import ExactFile

PARTITION = TopicPartition("t", 0)
#: Calls that change what others, or the next process, see.
CHANGES = frozenset({
    "close", "copy_file_range", "fchmod", "flock", "fsync", "ftruncate", "open", "pwrite", "rename", "unlink",
    "write",
})  # fmt: skip


def opened(path: Path, connector: str = "sink") -> ExactFile:
    """Open a file without waiting for whoever has it."""
    return ExactFile(str(path), connector, lambda seconds: True)


def lines(*numbers: int) -> bytes:
    """Return numbered lines."""
    return b"".join(b"line %d\n" % number for number in numbers)


def position(file: ExactFile) -> int:
    """Return the first record that is not stored."""
    return file.positions.get(PARTITION, 0)


def write(file: ExactFile, end: int) -> None:
    """Write the records that are missing up to an offset, and store them."""
    file.append(lines(*range(position(file), end)))
    file.store({PARTITION: end})


def killed_at(step: int, act: Callable[[], None]) -> bool:
    """Run something in a child that is killed at one of its changes; False when it made fewer.

    Each change counts twice: the child may be killed right before and right after it.
    """
    child = os.fork()
    if child == 0:
        status = 1
        try:
            sys.setprofile(_killer(step))
            act()
            sys.setprofile(None)
            status = 0
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL
        return True
    assert os.waitstatus_to_exitcode(status) == 0
    return False


def _killer(step: int) -> Callable[[FrameType, str, object], None]:
    steps = 0

    def count(frame: FrameType, event: str, called: object) -> None:
        nonlocal steps
        if event in {"c_call", "c_return"} and _name(called) in CHANGES:
            steps += 1
            if steps == step:
                os.kill(os.getpid(), signal.SIGKILL)

    return count


def calls_of(act: Callable[[], None]) -> list[str]:
    """Return the changes that something makes, in order."""
    made: list[str] = []
    sys.setprofile(lambda frame, event, called: made.append(_name(called)) if event == "c_call" else None)
    try:
        act()
    finally:
        sys.setprofile(None)
    return [name for name in made if name in CHANGES]


def _name(called: object) -> str:
    if getattr(called, "__module__", "") not in {"posix", "fcntl"}:
        return ""
    return str(getattr(called, "__name__", ""))
