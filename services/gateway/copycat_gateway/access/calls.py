"""What is known about the request that is being answered: who sent it, and what it does.

The services and the log hear who asks; requests that act, and those that are denied, go to the audit.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from copycat_access.audit import Audit, AuditOutcome
from copycat_connect.plugin import Caller
from copycat_telemetry.changes import MAX_NAME_CHARACTERS, USER, Asker, asking
from litestar.enums import ScopeType
from litestar.types import ASGIApp, HTTPScope, Message, Receive, Scope, Send


@dataclass(slots=True)
class RestCall:
    """One request; filled in while it goes inwards."""

    caller: Caller | None = None
    """Who sent it; none where nobody has to log in."""
    act: str = ""
    """What it does, in the words of the table of needs; empty for one that reads."""
    connector: str = ""
    """The connector that it is about; empty where it is about none, or that is not known yet."""
    denied_because: str = ""
    """Why it was denied; empty where it was not."""


_call: ContextVar[RestCall | None] = ContextVar("call", default=None)


def current_call() -> RestCall:
    """Return the request that is being answered; one of nobody outside of requests."""
    return _call.get() or RestCall()


@contextmanager
def answering(call: RestCall) -> Iterator[None]:
    """Answer a request in the block."""
    token = _call.set(call)
    try:
        yield
    finally:
        _call.reset(token)


class RememberingCallers:
    """Remembers who calls while a request lasts, for the log and for the services."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        if scope["type"] != ScopeType.HTTP:
            await self._app(scope, receive, send)
            return
        client, caller = scope["client"], current_call().caller
        name = "" if caller is None else caller.name[:MAX_NAME_CHARACTERS]
        with asking(Asker(USER, name, client[0] if client else "")):
            await self._app(scope, receive, send)


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
        call, status = RestCall(), 0

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


def _write(audit: Audit, scope: HTTPScope, call: RestCall, status: int) -> None:
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


def _outcome(call: RestCall, status: int) -> AuditOutcome:
    if call.denied_because:
        return AuditOutcome.DENIED
    return AuditOutcome.ALLOWED if 200 <= status < 400 else AuditOutcome.FAILED
