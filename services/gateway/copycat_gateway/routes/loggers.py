"""`/admin/loggers`: log levels of this process, or of the whole cluster."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final

from copycat.config.v1 import config_service_pb2 as config_pb2
from copycat_connect.log_levels import ROOT, level_name, level_named
from copycat_rest.answers import LoggerInfo
from copycat_telemetry.logs import existing_loggers, set_level
from litestar import Response, get, put
from litestar.di import NamedDependency
from litestar.params import FromPath, QueryParameter

from copycat_gateway.bodies import string_map
from copycat_gateway.changes import log_request
from copycat_gateway.clients import Services
from copycat_gateway.edge.answers import answer, nothing
from copycat_gateway.edge.openapi.operations import documented
from copycat_gateway.edge.paths import segment
from copycat_gateway.errors import BadRequestError, NotFoundError, writing_config
from copycat_gateway.routes.dependencies import BODY

OURS: Final = "copycat_"


@dataclass(frozen=True, slots=True)
class LoggerLevel:
    """The level of one logger."""

    level: str
    """A name in `copycat_connect.log_levels.LEVELS`."""
    last_modified: int | None
    """When a request last changed it, milliseconds since the epoch."""


class WorkerLoggers:
    """Reads and sets levels; remembers when it set which."""

    def __init__(self) -> None:
        self._modified: dict[str, int] = {}

    def all(self) -> dict[str, LoggerLevel]:
        """Return by name: root, our own loggers, and those of libraries that have a level of their own."""
        shown = {
            name
            for name in existing_loggers()
            if name.startswith(OURS) or logging.getLogger(name).level != logging.NOTSET
        }
        return {name: self._shown(name) for name in sorted({*shown, ROOT})}

    def get(self, name: str) -> LoggerLevel | None:
        """Return the level in force for a logger; None when there is no such logger."""
        if name.lower() == ROOT:
            return self._shown(ROOT)
        return self._shown(name) if name in existing_loggers() else None

    def set(self, prefix: str, level: str) -> Sequence[str]:
        """Set the level of every logger whose name starts so; returns the names of those it changed."""
        changed = set_level(prefix, level)
        now = time.time_ns() // 1_000_000
        self._modified.update(dict.fromkeys(changed, now))
        return changed

    def _shown(self, name: str) -> LoggerLevel:
        return LoggerLevel(level_name(logging.getLogger(name).getEffectiveLevel()), self._modified.get(name))


log = logging.getLogger(__name__)

TAGS: Final = ["loggers"]
WORKER, CLUSTER = "worker", "cluster"


@get(
    "/admin/loggers",
    summary="List our own loggers, and those of libraries with a level of their own",
    tags=TAGS,
    operation_class=documented(local=True),
)
async def list_loggers(loggers: NamedDependency[WorkerLoggers]) -> Response[dict[str, LoggerInfo]]:
    """List this process's loggers."""
    return answer({name: _shown(level) for name, level in loggers.all().items()})


@get(
    "/admin/loggers/{logger:str}",
    summary="Show the level in force for a logger",
    tags=TAGS,
    operation_class=documented(refused={404: "There is no such logger."}, local=True),
)
async def get_logger(loggers: NamedDependency[WorkerLoggers], logger: FromPath[str]) -> Response[LoggerInfo]:
    """Show one logger of this process."""
    name = segment(logger)
    level = loggers.get(name)
    if level is None:
        raise NotFoundError(f"Logger {name} not found.")
    return answer(_shown(level))


@put(
    "/admin/loggers/{logger:str}",
    summary="Set the level of a logger and those below it",
    tags=TAGS,
    dependencies=BODY,
    operation_class=documented(
        body="LoggerLevel",
        empty={204: "Set on every worker."},
        refused={400: "The body names no level.", 404: "There is no such level."},
    ),
)
async def set_logger(
    services: NamedDependency[Services],
    loggers: NamedDependency[WorkerLoggers],
    logger: FromPath[str],
    payload: NamedDependency[bytes],
    scope_: Annotated[str | None, QueryParameter(name="scope")] = None,
) -> Response[list[str] | None]:
    """Set it here and say for which loggers; with `scope=cluster` on every worker, and say nothing."""
    name = segment(logger)
    level = _level(string_map(payload).get("level"))
    wanted = (scope_ or WORKER).lower()
    if wanted == CLUSTER:
        # Here first: an executor in this very process would leave nothing to change, so no time of a change.
        # Should the call fail, the request may be repeated.
        loggers.set(name, level)
        with writing_config():
            await services.config.SetLoggerLevel(config_pb2.SetLoggerLevelRequest(logger=name, level=level))
        log_request("log level set", changed_logger=name, set_to=level, scope=CLUSTER)
        return nothing(204)
    if wanted != WORKER:
        log.warning("ignoring unknown scope %r of a log level: only this worker is changed", scope_)
    changed = list(loggers.set(name, level))
    log_request("log level set", changed_logger=name, set_to=level, scope=WORKER)
    return answer(changed)


def _level(text: str | None) -> str:
    if text is None:
        raise BadRequestError("Desired 'level' parameter was not specified in request.")
    level = level_named(text)
    if level is None:
        raise NotFoundError(f"invalid log level '{text}'.")
    return level


def _shown(level: LoggerLevel) -> LoggerInfo:
    return LoggerInfo(level.level, level.last_modified)


HANDLERS = (list_loggers, get_logger, set_logger)
