"""What the current work is about, and which secrets it may not show: for every log line it writes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

log_context: ContextVar[Mapping[str, str]] = ContextVar("log_context", default={})  # noqa: B039 - read only

log_scrubber: ContextVar[Callable[[str], str]] = ContextVar("log_scrubber", default=str)


def keep_secret(scrub: Callable[[str], str]) -> None:
    """Have `scrub` take the secrets out of what this thread or task logs from now on."""
    log_scrubber.set(scrub)


@contextmanager
def about(**fields: str) -> Iterator[None]:
    """Add fields (`connector`, `task`, ...) to the log lines of this block; never secrets."""
    token = log_context.set({**log_context.get(), **fields})
    try:
        yield
    finally:
        log_context.reset(token)
