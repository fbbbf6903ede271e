"""`/admin/loggers`: log levels of a running worker or of the whole cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from copycat_cli.rest import Rest

LOGGERS = ("admin", "loggers")


class Logger(Struct, frozen=True):
    """A logger's level, and when it was set in milliseconds; None where nobody did."""

    level: str
    last_modified: int | None = None


def list_loggers(rest: Rest) -> dict[str, Logger]:
    """Return the loggers with a level of their own, by name."""
    return rest.get(dict[str, Logger], *LOGGERS)


def get_logger(rest: Rest, name: str) -> Logger:
    """Return the level in force for a logger."""
    return rest.get(Logger, *LOGGERS, name)


def set_level(rest: Rest, name: str, level: str, scope: str) -> list[str]:
    """Set a level; returns the loggers it changed, nothing where the scope is the cluster."""
    answer = rest.ask("PUT", *LOGGERS, name, body={"level": level}, query={"scope": scope})
    return answer.read_as(list[str]) if answer.content else []
