"""What is done to a running system, and undone: processes, its Kafka and the line to it, a disk."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import psutil
from copycat_embedded.broker import EmbeddedKafka

from copycat_testkit.wire import Wire

DISK_SIZE: Final = "64m"
#: What is written meanwhile may not fit in what was there a moment ago.
FILLING_TRIES: Final = 20


def kill(processes: Sequence[psutil.Process]) -> None:
    """Kill -9 processes; nothing undoes it."""
    _signal(processes, signal.SIGKILL)


@contextmanager
def frozen(processes: Sequence[psutil.Process]) -> Iterator[None]:
    """Stop processes by SIGSTOP; those that are still there go on afterwards."""
    _signal(processes, signal.SIGSTOP)
    try:
        yield
    finally:
        _signal(processes, signal.SIGCONT)


def _signal(processes: Sequence[psutil.Process], how: signal.Signals) -> None:
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.send_signal(how)


@contextmanager
def killed_broker(broker: EmbeddedKafka) -> Iterator[None]:
    """Kill a broker, and start it again."""
    broker.kill()
    try:
        yield
    finally:
        broker.start()


@contextmanager
def cut(wire: Wire) -> Iterator[None]:
    """Cut a line, and mend it."""
    wire.cut()
    try:
        yield
    finally:
        wire.mend()


@contextmanager
def small_disk(folder: Path) -> Iterator[None]:
    """Make a folder with `lines` in it, on a disk of its own where this user may mount one."""
    mounted = mount_disk(folder)
    (folder / "lines").mkdir()
    try:
        yield
    finally:
        if mounted:
            unmount_disk(folder)


def mount_disk(folder: Path, size: str = DISK_SIZE) -> bool:
    """Make a folder and mount a disk there; returns whether this user may."""
    folder.mkdir(parents=True)
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    return not subprocess.run(command, check=False, capture_output=True).returncode


def resize_disk(folder: Path, size: str) -> bool:
    """Give a mounted disk another size; returns whether what lies on it fits."""
    command = ["mount", "-o", f"remount,size={size}", str(folder)]
    return not subprocess.run(command, check=False, capture_output=True).returncode


def fill_disk(folder: Path) -> None:
    """Leave no room on a mounted disk, while others may write to it.

    Raises:
        AssertionError: It cannot be made so small.
    """
    for _ in range(FILLING_TRIES):
        room = os.statvfs(folder)
        if resize_disk(folder, str((room.f_blocks - room.f_bfree) * room.f_frsize)):
            return
    raise AssertionError(f"{folder} cannot be made so small that nothing fits")


def unmount_disk(folder: Path) -> None:
    """Detach a disk; lazily, since somebody may still write there."""
    subprocess.run(["umount", "--lazy", str(folder)], check=True)  # noqa: S607
