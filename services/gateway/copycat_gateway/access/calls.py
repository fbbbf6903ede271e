"""What is known about the request that is being answered: who sent it, and what it does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from copycat_connect.plugin import Caller


@dataclass(slots=True)
class Call:
    """One request; filled in while it goes inwards."""

    caller: Caller | None = None
    """Who sent it; none where nobody has to log in."""
    act: str = ""
    """What it does, in the words of the table of needs; empty for one that reads."""
    connector: str = ""
    """The connector that it is about; empty where it is about none, or that is not known yet."""
    denied_because: str = ""
    """Why it was denied; empty where it was not."""


_call: ContextVar[Call | None] = ContextVar("call", default=None)


def current_call() -> Call:
    """Return the request that is being answered; one of nobody outside of requests."""
    return _call.get() or Call()


@contextmanager
def answering(call: Call) -> Iterator[None]:
    """Answer a request in the block."""
    token = _call.set(call)
    try:
        yield
    finally:
        _call.reset(token)
