"""Whether whoever sent a request may do what it asks for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from http import HTTPMethod
from typing import Any, Final

from copycat_access.needs import Need, Scope, demand
from copycat_access.refusals import RoleNeededError
from copycat_access.roles import Role, Rules
from litestar.connection import ASGIConnection
from litestar.handlers import BaseRouteHandler, HTTPRouteHandler

from copycat_gateway.access.calls import current_call
from copycat_gateway.edge.paths import segment

_VIEWS: Final = Need(Role.VIEWER, Scope.CONNECTOR)
_READS_PROGRESS: Final = Need(Role.OPERATOR, Scope.CONNECTOR)
_SHOWS_SOME: Final = Need(Role.VIEWER, Scope.ANYWHERE)
_SHOWS_ALL: Final = Need(Role.VIEWER, Scope.EVERYWHERE)


def _operates(act: str) -> Need:
    return Need(Role.OPERATOR, Scope.CONNECTOR, act)


def _changes(act: str) -> Need:
    return Need(Role.ADMIN, Scope.CONNECTOR, act)


_CONNECTOR: Final = "/connectors/{name:str}"
_TASK: Final = f"{_CONNECTOR}/tasks/{{task_id:str}}"
#: By method and path of the handler.
NEEDS: Final[Mapping[tuple[str, str], Need]] = {
    ("GET", "/"): _SHOWS_SOME,
    ("GET", "/health"): _SHOWS_SOME,
    ("GET", "/metrics"): _SHOWS_ALL,
    ("GET", "/workers"): _SHOWS_SOME,
    ("GET", "/openapi"): _SHOWS_SOME,
    ("GET", "/openapi/openapi.json"): _SHOWS_SOME,
    ("GET", "/connector-plugins"): _SHOWS_SOME,
    ("GET", "/connector-plugins/unloadable"): _SHOWS_SOME,
    ("GET", "/connector-plugins/{plugin:str}/config"): _SHOWS_SOME,
    # It runs code of the plugin and reaches the systems that the configuration names.
    ("PUT", "/connector-plugins/{plugin:str}/config/validate"): Need(Role.ADMIN, Scope.ANYWHERE),
    ("GET", "/connectors"): _SHOWS_SOME,
    ("POST", "/connectors"): Need(Role.ADMIN, Scope.IN_BODY, "create connector"),
    ("DELETE", "/connectors"): Need(Role.ADMIN, Scope.IN_BODY, "delete connector"),
    ("GET", _CONNECTOR): _VIEWS,
    ("DELETE", _CONNECTOR): _changes("delete connector"),
    ("GET", f"{_CONNECTOR}/config"): _VIEWS,
    ("PUT", f"{_CONNECTOR}/config"): _changes("put configuration"),
    ("PATCH", f"{_CONNECTOR}/config"): _changes("patch configuration"),
    ("GET", f"{_CONNECTOR}/status"): _VIEWS,
    ("PUT", f"{_CONNECTOR}/pause"): _operates("pause connector"),
    ("PUT", f"{_CONNECTOR}/resume"): _operates("resume connector"),
    ("PUT", f"{_CONNECTOR}/stop"): _operates("stop connector"),
    ("POST", f"{_CONNECTOR}/restart"): _operates("restart connector"),
    ("GET", f"{_CONNECTOR}/tasks"): _VIEWS,
    ("GET", f"{_CONNECTOR}/tasks-config"): _VIEWS,
    ("GET", _TASK): _VIEWS,
    ("GET", f"{_TASK}/status"): _VIEWS,
    ("POST", f"{_TASK}/restart"): _operates("restart task"),
    ("GET", f"{_CONNECTOR}/topics"): _VIEWS,
    ("PUT", f"{_CONNECTOR}/topics/reset"): _operates("reset active topics"),
    ("GET", f"{_CONNECTOR}/offsets"): _READS_PROGRESS,
    ("PATCH", f"{_CONNECTOR}/offsets"): _changes("alter offsets"),
    ("DELETE", f"{_CONNECTOR}/offsets"): _changes("reset offsets"),
    ("GET", f"{_CONNECTOR}/offsets/undo"): _READS_PROGRESS,
    ("POST", f"{_CONNECTOR}/offsets/undo"): _changes("undo change of offsets"),
    ("GET", f"{_CONNECTOR}/history"): _READS_PROGRESS,
    # Only workers of Kafka Connect send these; they are refused to everybody in the end.
    ("POST", f"{_CONNECTOR}/tasks"): _changes("publish tasks"),
    ("PUT", f"{_CONNECTOR}/fence"): _changes("fence tasks"),
    ("GET", "/admin/loggers"): _SHOWS_ALL,
    ("GET", "/admin/loggers/{logger:str}"): _SHOWS_ALL,
    ("PUT", "/admin/loggers/{logger:str}"): Need(Role.ADMIN, Scope.EVERYWHERE, "set log level"),
}


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
        return _SHOWS_SOME  # says which methods a path has
    return next((NEEDS[method, path] for path in sorted(handler.paths) if (method, path) in NEEDS), None)
