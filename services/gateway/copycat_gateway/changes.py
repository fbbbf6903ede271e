"""Who asked for a change of the cluster, in the log."""

from __future__ import annotations

import binascii
import logging
from base64 import b64decode
from collections.abc import Iterable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final

from copycat_telemetry.changes import log_change
from litestar.enums import ScopeType
from litestar.types import ASGIApp, Receive, Scope, Send

log = logging.getLogger(__name__)

#: More of a name than this is no use to anybody; it is text that a caller chose.
MAX_NAME_CHARACTERS: Final = 100
BASIC: Final = "basic "


@dataclass(frozen=True, slots=True)
class Caller:
    """Who sent a request."""

    name: str | None
    """The user of basic authentication; None where no extension checks who calls."""
    address: str | None
    """Host name or address the request came from; that of a proxy where there is one."""


_caller: ContextVar[Caller | None] = ContextVar("caller", default=None)


def log_request(what: str, **about: object) -> None:
    """Log a change that the current request made, and by whom."""
    caller = _caller.get() or Caller(None, None)
    log_change(log, what, logging.INFO, **about, by=caller.name, address=caller.address)


def remembering_callers(*, checked: bool) -> type:
    """Return the middleware that remembers who calls; names count only if they were `checked`."""

    class Remembering:
        """Remembers who calls while a request lasts."""

        def __init__(self, app: ASGIApp) -> None:
            self._app = app

        async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
            """Pass the request on."""
            if scope["type"] != ScopeType.HTTP:
                await self._app(scope, receive, send)
                return
            client = scope["client"]
            name = _user(scope["headers"]) if checked else None
            token = _caller.set(Caller(name, client[0] if client else None))
            try:
                await self._app(scope, receive, send)
            finally:
                _caller.reset(token)

    return Remembering


def _user(headers: Iterable[tuple[bytes, bytes]]) -> str | None:
    """Return the name of basic authentication, without its password."""
    given = next((value.decode("latin-1") for name, value in headers if name == b"authorization"), "")
    if not given.lower().startswith(BASIC):
        return None
    try:
        name, colon, _ = b64decode(given[len(BASIC) :]).decode("utf-8", "replace").partition(":")
    except (binascii.Error, ValueError):
        return None
    return name[:MAX_NAME_CHARACTERS] if colon else None
