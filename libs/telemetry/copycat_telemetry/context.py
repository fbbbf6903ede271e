"""What the current work is about: added to every log line written while it runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

log_context: ContextVar[Mapping[str, str]] = ContextVar("log_context", default={})  # noqa: B039 - read only


@contextmanager
def about(**fields: str) -> Iterator[None]:
    """Add fields (`connector`, `task`, ...) to the log lines of this block; never secrets."""
    token = log_context.set({**log_context.get(), **fields})
    try:
        yield
    finally:
        log_context.reset(token)
