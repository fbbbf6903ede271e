"""How many requests are carried out at a time; more than that are refused at once."""

from __future__ import annotations

from http import HTTPStatus
from typing import Final

from litestar.enums import ScopeType
from litestar.types import ASGIApp, Receive, Scope, Send

from copycat_gateway.edge.answers import refuse

MAX_REQUESTS: Final = 5_000
"""Requests under way at a time; a request whose body has not arrived yet is one of them."""


class RequestLimit:
    """Answers 503 to whoever comes while `most` requests are under way."""

    def __init__(self, app: ASGIApp, most: int = MAX_REQUESTS) -> None:
        self._app = app
        self._most = most
        self._under_way = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Carry the request out, or refuse it."""
        if scope["type"] == ScopeType.HTTP and self._under_way >= self._most:
            text = f"This worker carries out {self._most} requests already: try again later"
            await refuse(send, HTTPStatus.SERVICE_UNAVAILABLE, text, [(b"retry-after", b"1")])
            return
        self._under_way += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._under_way -= 1
