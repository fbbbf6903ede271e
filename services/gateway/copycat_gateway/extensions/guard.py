"""Every request says who sent it, and passes the extensions, before anything else."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import replace
from functools import partial
from http import HTTPMethod, HTTPStatus
from typing import Final

from copycat_access.refusals import RoleNeededError
from copycat_access.roles import Role
from copycat_connect.errors import CopycatError
from copycat_connect.plugin import RestAnswer, RestRequest
from litestar.config.cors import CORSConfig
from litestar.enums import ScopeType
from litestar.types import ASGIApp, HTTPScope, Receive, Scope, Send

from copycat_gateway.access.authentication import Authentication
from copycat_gateway.access.authorisation import Access
from copycat_gateway.access.calls import current_call
from copycat_gateway.edge.answers import error_body, to_json
from copycat_gateway.errors import TooLargeError, problem_of
from copycat_gateway.extensions.body import Body
from copycat_gateway.extensions.loading import Extensions
from copycat_gateway.extensions.rendering import Rendered, cors_headers, rendered

DENYING: Final = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)
DISCARD_TIMEOUT_SECONDS: Final = 5.0
"""Seconds in which what is left of a refused request is taken in, so that its sender sees the answer."""


class Guard:
    """Asks who calls, then the filters, then the resources, then the interface itself."""

    def __init__(
        self,
        app: ASGIApp,
        authentication: Authentication,
        access: Access,
        extensions: Extensions,
        *,
        cors: CORSConfig | None,
        resources: bool,
    ) -> None:
        """`cors`: the answer to browsers; `resources`: this listener has those of the extensions, too."""
        self._app = app
        self._authentication = authentication
        self._access = access
        self._extensions = extensions
        self._cors = cors
        self._has_resources = resources

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the request pass, or answer it."""
        if scope["type"] != ScopeType.HTTP or self._is_preflight(scope):
            await self._app(scope, receive, send)
            return
        request, body = _request(scope), Body(receive)
        try:
            async with asyncio.timeout(self._extensions.patience):
                answer = await self._answer(request, body)
            made = None if answer is None else rendered(answer)
        except Exception as error:  # the top of author code: whatever it raises is an answer, and no more
            made = rendered(_failure(error))
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

    async def _answer(self, request: RestRequest, body: Body) -> RestAnswer | None:
        refusal = await self._refusal(request)
        if refusal is not None:
            return refusal
        found = self._extensions.resources.find(request.method, request.path) if self._has_resources else None
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

    async def _send(self, made: Rendered, request: RestRequest, body: Body, send: Send) -> None:
        with suppress(TimeoutError, TooLargeError):
            async with asyncio.timeout(DISCARD_TIMEOUT_SECONDS):
                await body.read()
        headers = [*made.headers, *cors_headers(self._cors, request.headers.get("origin"))]
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
    message = f"a REST extension answered with {type(answer).__name__}, which is no RestAnswer"
    raise TypeError(message)


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
    return RestAnswer(status, to_json(error_body(status, message)))
