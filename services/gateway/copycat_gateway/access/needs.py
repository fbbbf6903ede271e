"""What each route needs: a role, and for which connectors. A route that is not listed is denied to all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from copycat_access.needs import Need, Scope
from copycat_access.roles import Role

VIEWS: Final = Need(Role.VIEWER, Scope.CONNECTOR)
READS_PROGRESS: Final = Need(Role.OPERATOR, Scope.CONNECTOR)
SHOWS_SOME: Final = Need(Role.VIEWER, Scope.ANYWHERE)
SHOWS_ALL: Final = Need(Role.VIEWER, Scope.EVERYWHERE)


def _operates(act: str) -> Need:
    return Need(Role.OPERATOR, Scope.CONNECTOR, act)


def _changes(act: str) -> Need:
    return Need(Role.ADMIN, Scope.CONNECTOR, act)


CONNECTOR: Final = "/connectors/{name:str}"
TASK: Final = f"{CONNECTOR}/tasks/{{task_id:str}}"
#: By method and path of the handler.
NEEDS: Final[Mapping[tuple[str, str], Need]] = {
    ("GET", "/"): SHOWS_SOME,
    ("GET", "/health"): SHOWS_SOME,
    ("GET", "/metrics"): SHOWS_ALL,
    ("GET", "/workers"): SHOWS_SOME,
    ("GET", "/openapi"): SHOWS_SOME,
    ("GET", "/openapi/openapi.json"): SHOWS_SOME,
    ("GET", "/connector-plugins"): SHOWS_SOME,
    ("GET", "/connector-plugins/unloadable"): SHOWS_SOME,
    ("GET", "/connector-plugins/{plugin:str}/config"): SHOWS_SOME,
    # It runs code of the plugin and reaches the systems that the configuration names.
    ("PUT", "/connector-plugins/{plugin:str}/config/validate"): Need(Role.ADMIN, Scope.ANYWHERE),
    ("GET", "/connectors"): SHOWS_SOME,
    ("POST", "/connectors"): Need(Role.ADMIN, Scope.IN_BODY, "create connector"),
    ("DELETE", "/connectors"): Need(Role.ADMIN, Scope.IN_BODY, "delete connector"),
    ("GET", CONNECTOR): VIEWS,
    ("DELETE", CONNECTOR): _changes("delete connector"),
    ("GET", f"{CONNECTOR}/config"): VIEWS,
    ("PUT", f"{CONNECTOR}/config"): _changes("put configuration"),
    ("PATCH", f"{CONNECTOR}/config"): _changes("patch configuration"),
    ("GET", f"{CONNECTOR}/status"): VIEWS,
    ("PUT", f"{CONNECTOR}/pause"): _operates("pause connector"),
    ("PUT", f"{CONNECTOR}/resume"): _operates("resume connector"),
    ("PUT", f"{CONNECTOR}/stop"): _operates("stop connector"),
    ("POST", f"{CONNECTOR}/restart"): _operates("restart connector"),
    ("GET", f"{CONNECTOR}/tasks"): VIEWS,
    ("GET", f"{CONNECTOR}/tasks-config"): VIEWS,
    ("GET", TASK): VIEWS,
    ("GET", f"{TASK}/status"): VIEWS,
    ("POST", f"{TASK}/restart"): _operates("restart task"),
    ("GET", f"{CONNECTOR}/topics"): VIEWS,
    ("PUT", f"{CONNECTOR}/topics/reset"): _operates("reset active topics"),
    ("GET", f"{CONNECTOR}/offsets"): READS_PROGRESS,
    ("PATCH", f"{CONNECTOR}/offsets"): _changes("alter offsets"),
    ("DELETE", f"{CONNECTOR}/offsets"): _changes("reset offsets"),
    ("GET", f"{CONNECTOR}/offsets/undo"): READS_PROGRESS,
    ("POST", f"{CONNECTOR}/offsets/undo"): _changes("undo change of offsets"),
    ("GET", f"{CONNECTOR}/history"): READS_PROGRESS,
    # Only workers of Kafka Connect send these; they are refused to everybody in the end.
    ("POST", f"{CONNECTOR}/tasks"): _changes("publish tasks"),
    ("PUT", f"{CONNECTOR}/fence"): _changes("fence tasks"),
    ("GET", "/admin/loggers"): SHOWS_ALL,
    ("GET", "/admin/loggers/{logger:str}"): SHOWS_ALL,
    ("PUT", "/admin/loggers/{logger:str}"): Need(Role.ADMIN, Scope.EVERYWHERE, "set log level"),
}
