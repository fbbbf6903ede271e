"""Who asked for a change of the cluster, for the log and for the services that make it."""

from __future__ import annotations

from copycat_telemetry.asking import MAX_NAME_CHARACTERS, USER, Asker, asking
from litestar.enums import ScopeType
from litestar.types import ASGIApp, Receive, Scope, Send

from copycat_gateway.access.calls import current_call


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
