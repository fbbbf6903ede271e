"""SIGINT where the shell that started us had it ignored: scripts do so to what they start with `&`."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


def heed_interrupts() -> None:
    """Have SIGINT raise KeyboardInterrupt in this process even if it was started with SIGINT ignored.

    A command documents that SIGINT stops it; children started from here on inherit no ignored SIGINT either.
    Only the main thread can do so; in another, e.g. of a program that calls our commands, this does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@contextmanager
def heeding_interrupts() -> Iterator[None]:
    """Heed SIGINT while the block runs, then leave it as it was; does nothing outside of the main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)
    heed_interrupts()
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
