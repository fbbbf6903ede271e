"""`/admin/loggers`: log levels of a running worker or of the whole cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

from copycat_rest.answers import LoggerInfo

if TYPE_CHECKING:
    from copycat_cli.rest import Rest

LOGGERS = ("admin", "loggers")


def list_loggers(rest: Rest) -> dict[str, LoggerInfo]:
    """Return the loggers with a level of their own, by name."""
    return rest.get(dict[str, LoggerInfo], *LOGGERS)


def get_logger(rest: Rest, name: str) -> LoggerInfo:
    """Return the level in force for a logger."""
    return rest.get(LoggerInfo, *LOGGERS, name)


def set_level(rest: Rest, name: str, level: str, scope: str) -> list[str]:
    """Set a level; returns the loggers it changed, nothing where the scope is the cluster."""
    answer = rest.ask("PUT", *LOGGERS, name, body={"level": level}, query={"scope": scope})
    return answer.read_as(list[str]) if answer.content else []
