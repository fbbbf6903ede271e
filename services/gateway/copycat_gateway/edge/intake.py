"""What is taken in: so many requests at a time, of known media types, with bodies of bounded size."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any, Final

from litestar import Request
from litestar.datastructures import State
from litestar.enums import ScopeType
from litestar.types import ASGIApp, Receive, Scope, Send

from copycat_gateway.edge.answers import refuse
from copycat_gateway.errors import NotAcceptableError, TooLargeError, UnsupportedMediaTypeError, http_text

MAX_BODY_BYTES: Final = 5 * 1024 * 1024
"""Bytes of the largest body that is read."""
MAX_DISCARDED_BYTES: Final = 10 * MAX_BODY_BYTES
"""Bytes of a refused body that are still taken in, so that its sender sees the answer."""
JSON_RANGES: Final = frozenset({"application/json", "application/*", "*/*"})


async def check_media_types(request: Request[Any, Any, State]) -> None:
    """Refuse a body that is not JSON and a caller that takes no JSON, in JAX-RS's order.

    Raises:
        UnsupportedMediaTypeError: The content type is something else.
        NotAcceptableError: The `Accept` header has no room for JSON.
    """
    declared = request.headers.get("content-type")
    if declared is not None and not _takes_json(declared):
        raise UnsupportedMediaTypeError(http_text(415))
    accepted = request.headers.getall("accept", [])
    if accepted and not any(_takes_json(part) for value in accepted for part in value.split(",")):
        raise NotAcceptableError(http_text(406))


async def read_body(request: Request[Any, Any, State]) -> bytes:
    """Return the request body.

    Raises:
        UnsupportedMediaTypeError: There is a body and nothing says that it is JSON.
        TooLargeError: It is longer than `MAX_BODY_BYTES`.
    """
    kept = bytearray()
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > MAX_DISCARDED_BYTES:
            break
        if size <= MAX_BODY_BYTES:
            kept += chunk
    if size > MAX_BODY_BYTES:
        raise TooLargeError(f"The request body is too large: at most {MAX_BODY_BYTES} bytes are accepted")
    if kept and "content-type" not in request.headers:
        raise UnsupportedMediaTypeError(http_text(415))
    return bytes(kept)


def _takes_json(media_range: str) -> bool:
    kind, *parameters = (part.strip().lower() for part in media_range.split(";"))
    refused = any(parameter.replace(" ", "") in {"q=0", "q=0.0"} for parameter in parameters)
    return kind in JSON_RANGES and not refused


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
