"""What the current work is about: for every log line that it writes, in threads that it starts, too."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import Final
from weakref import WeakKeyDictionary

_UNKNOWN: Final[Mapping[str, str]] = MappingProxyType({})
log_context: ContextVar[Mapping[str, str]] = ContextVar("log_context", default=_UNKNOWN)

#: What the work was about that started a thread; threads do not inherit context variables.
_started_by: Final[WeakKeyDictionary[threading.Thread, Mapping[str, str]]] = WeakKeyDictionary()


@contextmanager
def about(**fields: str) -> Iterator[None]:
    """Add fields (`connector`, `task`, ...) to the log lines of this block; never secrets."""
    token = log_context.set({**log_context.get(), **fields})
    try:
        yield
    finally:
        log_context.reset(token)


def what_about() -> Mapping[str, str]:
    """Return the fields of the current work; in a thread without any, of the work that started it."""
    fields = log_context.get()
    return _started_by.get(threading.current_thread(), fields) if fields is _UNKNOWN else fields


def follow_threads() -> None:
    """Note from now on what each thread is started for: those of plugins have no other name."""
    start = threading.Thread.start

    def noting(self: threading.Thread) -> None:
        if fields := what_about():
            _started_by[self] = fields
        start(self)

    threading.Thread.start = noting  # type: ignore[method-assign]
