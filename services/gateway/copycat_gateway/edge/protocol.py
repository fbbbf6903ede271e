"""HTTP/1.1 on a connection: a bound on the time a request's head may take, and one length of a body."""

from __future__ import annotations

import asyncio
from functools import partial
from http import HTTPStatus
from typing import Any, Final

import h11
from copycat_rest.answers import ErrorMessage
from litestar.enums import ScopeType
from litestar.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from copycat_gateway.edge.answers import JSON, refuse, to_json

MAX_HEAD_SECONDS: Final = 30.0
"""Seconds from the first byte of a request, or from the connection's start, to the end of its headers."""


class TimedProtocol(H11Protocol):
    """Closes a connection whose next request does not get as far as its body in time.

    uvicorn itself ends idle connections after an answer; the application bounds what comes after the head.
    """

    def __init__(self, *args: Any, head_seconds: float, **named: Any) -> None:
        super().__init__(*args, **named)
        self._head_seconds = head_seconds
        self._head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as in uvicorn
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self._watch_head()

    def data_received(self, data: bytes) -> None:
        """Handle bytes; the clock runs on while they do not complete a head."""
        super().data_received(data)
        self._watch_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer of the request's headers."""
        super().connection_lost(exc)
        self._stop_clock()

    def _watch_head(self) -> None:
        if self.conn.their_state is not h11.IDLE or self.transport.is_closing():
            self._stop_clock()
        elif self._head_timer is None:
            self._head_timer = self.loop.call_later(self._head_seconds, self._give_up)

    def _stop_clock(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _give_up(self) -> None:
        self._head_timer = None
        if self.transport.is_closing():
            return
        begun, _ = self.conn.trailing_data
        if begun and self.conn.our_state is h11.IDLE:
            self._answer_late()
        self.transport.close()

    def _answer_late(self) -> None:
        status = HTTPStatus.REQUEST_TIMEOUT
        body = to_json(
            ErrorMessage(status, f"The request's headers were not complete after {self._head_seconds:g} s")
        )
        head = h11.Response(
            status_code=status,
            reason=status.phrase.encode(),
            headers=[
                (b"content-type", JSON.encode()),
                (b"content-length", str(len(body)).encode()),
                (b"connection", b"close"),
            ],
        )
        for event in (head, h11.Data(data=body), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")


def timed_protocol(request_seconds: float) -> Any:
    """Return what uvicorn makes for each connection; a head gets no longer than a whole request."""
    return partial(TimedProtocol, head_seconds=min(MAX_HEAD_SECONDS, request_seconds))


class OneLength:
    """Refuses a request whose body has a length and comes in chunks as well, and closes its connection.

    Two programs on its way may read its end at different places, so that one of them takes what is inside the
    body for a request of its own.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it."""
        if scope["type"] == ScopeType.HTTP:
            names = {name for name, _ in scope["headers"]}
            if {b"content-length", b"transfer-encoding"} <= names:
                text = "A request has either Content-Length or Transfer-Encoding, not both"
                await refuse(send, HTTPStatus.BAD_REQUEST, text, [(b"connection", b"close")])
                return
        await self._app(scope, receive, send)
