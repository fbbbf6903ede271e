"""Every request that acts, and each that is denied, becomes a line of the audit."""

from __future__ import annotations

from copycat_access.audit import Audit, Outcome
from litestar.enums import ScopeType
from litestar.types import ASGIApp, HTTPScope, Message, Receive, Scope, Send

from copycat_gateway.access.calls import Call, answering


class Audited:
    """Begins what is known about a request, and writes down what came of it."""

    def __init__(self, app: ASGIApp, audit: Audit | None) -> None:
        """`audit`: where the lines go; none where nobody has to log in."""
        self._app = app
        self._audit = audit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, then write its line."""
        if scope["type"] != ScopeType.HTTP:
            await self._app(scope, receive, send)
            return
        call, status = Call(), 0

        async def watching(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            with answering(call):
                await self._app(scope, receive, watching)
        finally:
            if self._audit is not None and (call.act or call.denied_because) and not _asks_who_lives(scope):
                _write(self._audit, scope, call, status)


def _asks_who_lives(scope: HTTPScope) -> bool:
    """Whether it asks for the methods of a path, without a login: supervisors do every other second."""
    return scope["method"] == "OPTIONS" and all(name != b"authorization" for name, _ in scope["headers"])


def _write(audit: Audit, scope: HTTPScope, call: Call, status: int) -> None:
    client = scope["client"]
    audit.write(
        _outcome(call, status),
        by=None if call.caller is None else call.caller.name,
        address=client[0] if client else None,
        act=call.act,
        connector=call.connector,
        method=scope["method"],
        path=scope["path"],
        status=status or None,
        why=call.denied_because,
    )


def _outcome(call: Call, status: int) -> Outcome:
    if call.denied_because:
        return Outcome.DENIED
    return Outcome.ALLOWED if 200 <= status < 400 else Outcome.FAILED
