"""Paths: a connector's name is one segment, whatever characters it has.

ASGI servers hand over a decoded path, where a name's `/` looks like a border. So
routing works on the raw path with every segment encoded alike, and routes decode the segment they take.
"""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import Final
from urllib.parse import quote, unquote, unquote_to_bytes

from litestar.enums import ScopeType
from litestar.types import ASGIApp, HTTPScope, Receive, Scope, Send

from copycat_gateway.edge.answers import refuse
from copycat_gateway.errors import NotFoundError, http_text

INT_MAX: Final = 2**31 - 1
INTEGER: Final = re.compile(r"[+-]?[0-9]{1,10}")


def segment(encoded: str) -> str:
    """Return what a segment of a normalised path stands for."""
    return unquote(encoded)


def task_number(encoded: str) -> int:
    """Return a segment as a task index.

    Raises:
        NotFoundError: It is no 32-bit integer; such a path is unknown.
    """
    text = segment(encoded)
    if INTEGER.fullmatch(text) is None or not -INT_MAX - 1 <= int(text) <= INT_MAX:
        raise NotFoundError(http_text(404))
    return int(text)


class RawPaths:
    """Routes by the raw path; one that cannot be decoded is refused."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Rewrite the scope."""
        if scope["type"] != ScopeType.HTTP:
            await self._app(scope, receive, send)
            return
        raw = scope.get("raw_path") or quote(scope["path"]).encode()
        try:
            path = _normalised(raw.decode("ascii"))
        except UnicodeDecodeError:
            await refuse(send, HTTPStatus.BAD_REQUEST, "The path is not UTF-8 text in percent-encoding")
            return
        if path is None:
            await refuse(send, HTTPStatus.BAD_REQUEST, "Ambiguous URI empty segment")
            return
        routed: HTTPScope = {**scope, "path": path}
        await self._app(routed, receive, send)


class HeadAsGet:
    """Routes HEAD as GET; the server drops the body of an answer to HEAD by itself."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Rewrite the scope."""
        if scope["type"] == ScopeType.HTTP and scope["method"] == "HEAD":
            routed: HTTPScope = {**scope, "method": "GET"}
            await self._app(routed, receive, send)
        else:
            await self._app(scope, receive, send)


def _normalised(raw: str) -> str | None:
    """Return the path with every segment encoded alike; nothing when one is empty."""
    segments = raw.strip("/").split("/") if raw.strip("/") else []
    if "" in segments:
        return None
    return "/" + "/".join(quote(unquote_to_bytes(part).decode(), safe="") for part in segments)
