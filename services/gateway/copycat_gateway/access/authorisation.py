"""Whether whoever sent a request may do what it asks for."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPMethod
from typing import Any

from copycat_access.needs import Need, Scope, demand
from copycat_access.refusals import RoleNeededError
from copycat_access.roles import Role, Rules
from litestar.connection import ASGIConnection
from litestar.handlers import BaseRouteHandler, HTTPRouteHandler

from copycat_gateway.access.calls import current_call
from copycat_gateway.access.needs import NEEDS, SHOWS_SOME
from copycat_gateway.edge.paths import segment


class Access:
    """Asks the rules about the current request; without rules everything is allowed to whoever got here."""

    def __init__(self, rules: Callable[[], Rules] | None = None) -> None:
        """`rules`: gives those in force."""
        self._rules = rules

    async def guard(self, connection: ASGIConnection[Any, Any, Any, Any], handler: BaseRouteHandler) -> None:
        """Let a request pass to its handler, as its route needs.

        Raises:
            RoleNeededError: Its caller lacks the role, or the route is not in the table.
        """
        need = need_of(handler)
        name = connection.path_params.get("name", "")
        connector = segment(name) if need is not None and need.scope is Scope.CONNECTOR else ""
        call = current_call()
        call.act, call.connector = "" if need is None else need.act, connector
        if self._rules is not None and need is None:
            error = RoleNeededError(Role.ADMIN, "this, which no role is enough for", call.caller)
            call.denied_because = error.message
            raise error
        if need is not None:
            self._demand(need, connector)

    def demand_in_body(self, role: Role, connector: str) -> None:
        """Let a request go on whose body names the connector.

        Raises:
            RoleNeededError: Its caller lacks the role for it.
        """
        current_call().connector = connector
        self._demand(Need(role, Scope.CONNECTOR), connector)

    def shown(self) -> Callable[[str], bool]:
        """Return what says of a connector whether the caller may see it."""
        if self._rules is None:
            return lambda connector: True
        return self._rules().covering(current_call().caller, Role.VIEWER)

    def demand_everywhere(self, role: Role) -> None:
        """Let a request go on that is about all connectors, or about none.

        Raises:
            RoleNeededError: Its caller lacks the role for all of them.
        """
        self._demand(Need(role, Scope.EVERYWHERE), "")

    def _demand(self, need: Need, connector: str) -> None:
        if self._rules is None:
            return
        call = current_call()
        try:
            demand(self._rules(), call.caller, need, connector)
        except RoleNeededError as error:
            call.denied_because = error.message
            raise


def need_of(handler: BaseRouteHandler) -> Need | None:
    """Return what a handler needs; nothing where it is not in the table."""
    if not isinstance(handler, HTTPRouteHandler):
        return None
    (method,) = sorted(handler.http_methods)[:1]
    if method == HTTPMethod.OPTIONS:
        return SHOWS_SOME  # says which methods a path has
    return next((NEEDS[method, path] for path in sorted(handler.paths) if (method, path) in NEEDS), None)
