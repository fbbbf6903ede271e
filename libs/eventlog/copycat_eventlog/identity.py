"""Names of instances, by which a successor on the same machine knows that one is dead.

Kafka keeps a killed member in its group until its session ends, six seconds. A service that was killed and
started again need not wait for itself.
"""

from __future__ import annotations

import hashlib
import os
import uuid
from pathlib import Path

_PROC_FOLDER = Path("/proc")
#: Process states in which nothing runs any more.
_DEAD_STATES = frozenset("ZX")


def instance_name(owner_id: str) -> str:
    """Return a name for this process in the group that elects."""
    return f"{owner_id}.{_machine()}.{os.getpid()}.{uuid.uuid4().hex[:8]}"


def is_dead(name: str) -> bool:
    """Whether the instance of that name is known to run no more; False when nobody here can know."""
    match name.split(".")[-3:]:
        case [machine, process, _] if machine and machine == _machine() and process.isdecimal():
            return _ended(process)
        case _:
            return False


def _ended(process: str) -> bool:
    try:
        # The state follows the program's name, which may hold anything but ends with the last bracket.
        state = (_PROC_FOLDER / process / "stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return True
    except (OSError, IndexError):
        return False
    return state in _DEAD_STATES


def _machine() -> str:
    """A name for what process numbers are relative to: one boot of one kernel, one process namespace."""
    try:
        boot = (_PROC_FOLDER / "sys/kernel/random/boot_id").read_text().strip()
        namespace = (_PROC_FOLDER / "self/ns/pid").readlink()
    except OSError:  # no Linux
        return ""
    return hashlib.sha256(f"{boot} {namespace}".encode()).hexdigest()[:12]
