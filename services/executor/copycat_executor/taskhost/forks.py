"""Processes that plugins fork: they end with the task that forked them, and with its host."""

from __future__ import annotations

import ctypes
import os
import signal
from typing import Final

#: Of Linux's prctl: the signal that a process gets when the thread that forked it ends.
PR_SET_PDEATHSIG: Final = 1


def bind_forks() -> None:
    """Have processes that are forked from this one end with the thread that forks them.

    They would otherwise keep its connections open and its memory in use when it is killed. Programs that are
    run by `subprocess` are not affected.
    """
    prctl = ctypes.CDLL(None).prctl
    os.register_at_fork(after_in_child=lambda: prctl(PR_SET_PDEATHSIG, signal.SIGKILL))
