"""Every request says who sent it, and passes the extensions, before anything else."""

from __future__ import annotations

import asyncio
import re
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from http import HTTPMethod, HTTPStatus
from typing import Final

from copycat_access.refusals import RoleNeededError
from copycat_access.roles import Role
from copycat_connect.errors import CopycatError
from copycat_connect.plugin import RestAnswer, RestRequest
from copycat_rest.answers import ErrorMessage
from litestar.config.cors import CORSConfig
from litestar.enums import ScopeType
from litestar.types import ASGIApp, HTTPScope, Receive, Scope, Send

from copycat_gateway.access.authentication import Authentication
from copycat_gateway.access.authorisation import Access
from copycat_gateway.access.calls import current_call
from copycat_gateway.edge.answers import to_json
from copycat_gateway.edge.intake import MAX_BODY_BYTES, MAX_DISCARDED_BYTES
from copycat_gateway.errors import TooLargeError, problem_of
from copycat_gateway.extensions.loading import Extensions


class _Body:
    """Reads a body, and no further: after its end only the news that the caller has left would come."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._ended = False

    async def read(self) -> bytes:
        """Return what is left of it.

        Raises:
            TooLargeError: It is longer than a body may be.
        """
        kept, size = bytearray(), 0
        while not self._ended and size <= MAX_DISCARDED_BYTES:
            message = await self._receive()
            if message["type"] != "http.request":  # whoever asked has left
                self._ended = True
                break
            size += len(message["body"])
            if size <= MAX_BODY_BYTES:
                kept += message["body"]
            self._ended = not message["more_body"]
        if size > MAX_BODY_BYTES:
            raise TooLargeError(f"The request body is too large: at most {MAX_BODY_BYTES} bytes are accepted")
        return bytes(kept)


_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE: Final = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
_BODILESS: Final = frozenset({204, 304})
#: What follows from the rest of an answer.
_FRAMING: Final = frozenset({"content-length", "content-type", "transfer-encoding", "connection"})
_Headers = list[tuple[bytes, bytes]]


@dataclass(frozen=True, slots=True)
class _Rendered:
    """An answer that the server can send."""

    status: int
    """HTTP status."""
    headers: _Headers
    """All of them."""
    body: bytes
    """The body."""


def _rendered(answer: RestAnswer) -> _Rendered:
    """Return what to send.

    Raises:
        ValueError: It is no answer of HTTP.
        TypeError: Its body is neither text nor bytes.
    """
    if not 200 <= answer.status <= 599:
        raise ValueError(f"a REST extension answered with the status {answer.status}")
    body = answer.body.encode("utf-8", "replace") if isinstance(answer.body, str) else answer.body
    if not isinstance(body, bytes):
        raise TypeError(f"a REST extension answered with a body of the type {type(body).__name__}")
    named = {name: value for name, value in answer.headers.items() if name.lower() not in _FRAMING}
    if answer.status in _BODILESS:
        return _Rendered(answer.status, _headers(named), b"")
    length = [(b"content-length", str(len(body)).encode())]
    typed = {"content-type": answer.content_type} if answer.content_type else {}
    return _Rendered(answer.status, [*_headers(typed), *length, *_headers(named)], body)


def _cors_headers(cors: CORSConfig | None, origin: str | None) -> _Headers:
    """Return what a browser needs to show an answer to the page that asked."""
    if cors is None or not origin or not cors.is_origin_allowed(origin):
        return []
    shown = "*" if cors.is_allow_all_origins else origin
    return [(b"access-control-allow-origin", shown.encode("latin-1")), (b"vary", b"Origin")]


def _headers(named: dict[str, str]) -> _Headers:
    for name, value in named.items():
        if _NAME.fullmatch(name) is None or _VALUE.fullmatch(value) is None:
            raise ValueError(f"a REST extension answered with a header {name!r} that HTTP cannot carry")
    return [(name.lower().encode("ascii"), value.encode("latin-1")) for name, value in named.items()]


DENYING: Final = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)
DISCARD_TIMEOUT_SECONDS: Final = 5.0
"""Seconds in which what is left of a refused request is taken in, so that its sender sees the answer."""


class ExtensionGuard:
    """Asks who calls, then the filters, then the resources, then the interface itself."""

    def __init__(
        self,
        app: ASGIApp,
        authentication: Authentication,
        access: Access,
        extensions: Extensions,
        *,
        cors: CORSConfig | None,
    ) -> None:
        """`cors`: the answer to browsers."""
        self._app = app
        self._authentication = authentication
        self._access = access
        self._extensions = extensions
        self._cors = cors

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the request pass, or answer it."""
        if scope["type"] != ScopeType.HTTP or self._is_preflight(scope):
            await self._app(scope, receive, send)
            return
        request, body = _request(scope), _Body(receive)
        try:
            async with asyncio.timeout(self._extensions.patience):
                answer = await self._answer(request, body)
            made = None if answer is None else _rendered(answer)
        except Exception as error:  # the top of author code: whatever it raises is an answer, and no more
            made = _rendered(_failure(error))
        if made is None:
            await self._app(scope, receive, send)
        else:
            await self._send(made, request, body, send)

    def _is_preflight(self, scope: HTTPScope) -> bool:
        """Tell whether the CORS rules alone answer; browsers send no credentials with such a request."""
        return (
            self._cors is not None
            and scope["method"] == HTTPMethod.OPTIONS
            and any(name == b"origin" and value for name, value in scope["headers"])
        )

    async def _answer(self, request: RestRequest, body: _Body) -> RestAnswer | None:
        refusal = await self._refusal(request)
        if refusal is not None:
            return refusal
        found = self._extensions.resources.find(request.method, request.path)
        if found is None:
            return None
        self._access.demand_everywhere(Role.ADMIN)
        whole = replace(request, body=await body.read(), parameters=found.parameters)
        return _checked(await self._extensions.threads.run(partial(found.answer, whole)))

    async def _refusal(self, request: RestRequest) -> RestAnswer | None:
        """Return why a request goes no further; nothing where it may, and then its caller is known."""
        known = await self._authentication.known(request)
        if known is not None and not isinstance(known, RestAnswer):
            current_call().caller = known
            known = None
        if known is None and self._extensions.filters:
            known = await self._extensions.threads.run(partial(self._filtered, request))
        if known is not None and known.status in DENYING:
            current_call().denied_because = f"answered with {known.status}"
        return known

    def _filtered(self, request: RestRequest) -> RestAnswer | None:
        for decide in self._extensions.filters:
            answer = decide(request)
            if answer is not None:
                return _checked(answer)
        return None

    async def _send(self, made: _Rendered, request: RestRequest, body: _Body, send: Send) -> None:
        with suppress(TimeoutError, TooLargeError):
            async with asyncio.timeout(DISCARD_TIMEOUT_SECONDS):
                await body.read()
        headers = [*made.headers, *_cors_headers(self._cors, request.headers.get("origin"))]
        await send({"type": "http.response.start", "status": made.status, "headers": headers})
        await send({"type": "http.response.body", "body": made.body, "more_body": False})


def _request(scope: HTTPScope) -> RestRequest:
    headers: dict[str, str] = {}
    for raw, value in scope["headers"]:
        name, text = raw.decode("latin-1").lower(), value.decode("latin-1")
        headers[name] = f"{headers[name]}, {text}" if name in headers else text
    return RestRequest(scope["method"], scope["path"], scope["query_string"].decode("latin-1"), headers)


def _checked(answer: object) -> RestAnswer:
    if isinstance(answer, RestAnswer):
        return answer
    raise TypeError(f"a REST extension answered with {type(answer).__name__}, which is no RestAnswer")


def _failure(error: Exception) -> RestAnswer:
    """Return the answer to a request in which an extension failed: always 500, whatever it raised."""
    match error:
        case TooLargeError() | RoleNeededError():
            status, message = problem_of(error).status, error.message
        case TimeoutError():
            status, message = 500, "Request timed out. The worker is currently waiting for a REST extension."
        case CopycatError():
            status, message = 500, error.message
        case _:
            status, message = 500, problem_of(error).message
    return RestAnswer(status, to_json(ErrorMessage(status, message)))
