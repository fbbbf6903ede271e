"""The request deadline, and what a request that met it was doing."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from litestar.types import ASGIApp, Receive, Scope, Send

from copycat_gateway.errors import FailedRequestError


@dataclass(slots=True)
class RequestProgress:
    """The stage a request is in, or was in last, and when it has to end."""

    ends: float
    """The request's deadline, in the event loop's time."""
    doing: str = ""
    """What, as a participle; empty before the first stage."""
    began: str = ""
    """When, ISO-8601."""
    completed: str = ""
    """When; empty while it lasts."""

    def text(self) -> str:
        """Return the sentence Kafka Connect adds to a timeout; empty when no stage is known."""
        if not self.doing:
            return ""
        if self.completed:
            return (
                f"The last operation the worker completed was {self.doing},"
                f" which began at {self.began} and completed at {self.completed}."
            )
        return f"The worker is currently {self.doing}, which began at {self.began}."


UNBOUND_CALL_SECONDS: Final = 90.0
"""Seconds a call may take that no request waits for."""
_progress: ContextVar[RequestProgress | None] = ContextVar("progress", default=None)


@contextmanager
def stage(doing: str) -> Iterator[None]:
    """Name what the request does from here on, for the case that it takes too long."""
    progress = _progress.get()
    if progress is None:
        yield
        return
    progress.doing, progress.began, progress.completed = doing, now(), ""
    yield  # an interrupted stage stays the current one, so nothing is cleaned up after an error
    progress.completed = now()


def left() -> float:
    """Return the seconds until the deadline: a worker that knows them answers in time and says what hangs."""
    progress = _progress.get()
    if progress is None:
        return UNBOUND_CALL_SECONDS
    return max(0.0, progress.ends - asyncio.get_running_loop().time())


def deadline(seconds: float) -> type:
    """Return the middleware that ends a request after that time with Kafka Connect's text."""

    class Deadline:
        """Ends a request that takes too long."""

        def __init__(self, app: ASGIApp) -> None:
            self._app = app

        async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
            """Run the request; one that already answers is cut off by its closed connection."""
            progress = RequestProgress(asyncio.get_running_loop().time() + seconds)
            token = _progress.set(progress)
            try:
                async with asyncio.timeout(seconds):
                    await self._app(scope, receive, send)
            except TimeoutError as error:
                text = progress.text()
                raise FailedRequestError(
                    f"Request timed out. {text}" if text else "Request timed out"
                ) from error
            finally:
                _progress.reset(token)

    return Deadline


def now() -> str:
    """Return the time as Kafka Connect writes it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
