"""Logs: one JSON object a line on stderr; the levels of loggers, which change while a process runs."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final, TextIO

from copycat_connect.config import ConfigDef
from copycat_connect.config.secrets import HIDDEN_HERE
from copycat_connect.config.worker_keys import LOG_LEVEL, SPAN_ENDPOINT
from copycat_connect.error_text import bounded, writable
from copycat_connect.log_levels import LEVELS, ROOT, level_name, setting_level

from copycat_telemetry.context import what_about
from copycat_telemetry.repeats import RepeatLimit
from copycat_telemetry.tracing import configure_tracing

#: Libraries that write a line for each connection attempt while a broker is away, or for each request. They
#: are silent, and stay so when the level of everything is lowered: only a change that names them counts.
NOISY_LOGGERS: Final = (
    "aiokafka",
    "faust",
    "mode",
    "kafka",
    "opentelemetry",
    "py4j",
    "uvicorn.error",
    "uvicorn.access",
)


def set_level(prefix: str, level: str) -> Sequence[str]:
    """Set the level of every logger whose name starts with `prefix`, the named one included.

    Returns the names of those it changed: one that has the level already is not among them.

    Args:
        prefix: The start of their names; `root`, in any case, for all but the libraries in `NOISY_LOGGERS`.
        level: A name in `copycat_connect.log_levels.LEVELS`.
    """
    threshold = LEVELS[level]
    if prefix.lower() == ROOT:
        affected = {ROOT, *(name for name in existing_loggers() if not name.startswith(NOISY_LOGGERS))}
    else:
        affected = {prefix, *(name for name in existing_loggers() if name.startswith(prefix))}
    changed = [name for name in sorted(affected) if logging.getLogger(name).level != threshold]
    for name in changed:
        logging.getLogger(name).setLevel(threshold)
    return changed


def existing_loggers() -> set[str]:
    """Return the names of all loggers that were ever asked for, without the root."""
    known = logging.Logger.manager.loggerDict.items()
    return {name for name, logger in known if isinstance(logger, logging.Logger)}


#: In the path of every module of Py4J, part of which logs on the root logger.
PY4J_PATH: Final = "/py4j/"


class JsonFormatter(logging.Formatter):
    """Formats a record as one JSON object with the service and what it was about."""

    def __init__(self, service: str) -> None:
        super().__init__()
        self._service = service

    def format(self, record: logging.LogRecord) -> str:
        """Return the line; an exception's trace goes into `trace`."""
        scrub = HIDDEN_HERE.scrub
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": level_name(record.levelno),
            "service": self._service,
            "logger": record.name,
            "message": bounded(scrub(record.getMessage())),
            **what_about(),
            **_scrubbed(getattr(record, "fields", {}), scrub),
        }
        if record.exc_info:
            line["trace"] = bounded(scrub(self.formatException(record.exc_info)))
        return writable(json.dumps(line, ensure_ascii=False, default=str))


def _scrubbed(fields: Mapping[str, object], scrub: Callable[[str], str]) -> dict[str, object]:
    return {key: scrub(value) if isinstance(value, str) else value for key, value in fields.items()}


class LimitedHandler(logging.StreamHandler[TextIO]):
    """Writes to a stream, but not the same warning or error again and again."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__(stream)
        self._limit = RepeatLimit(super().emit)

    def handle(self, record: logging.LogRecord) -> bool:
        """Drop what Py4J logs on the root logger of each call that is under way when its JVM ends."""
        return not (record.name == "root" and PY4J_PATH in record.pathname) and super().handle(record)

    def emit(self, record: logging.LogRecord) -> None:
        """Write the record unless there were too many of its kind."""
        try:
            self._limit.take(record)
        except Exception:  # a line that cannot be written must not end the work it is about
            self.handleError(record)

    def close(self) -> None:
        """Say how many lines were left out."""
        self._limit.flush()
        super().close()


def configure_logging(service: str, level: str = "INFO", stream: TextIO | None = None) -> None:
    """Send every log record of this process to stderr, or another stream, as JSON; called by a `main`.

    `level` is a valid value of `log.level`.
    """
    handler = LimitedHandler(stream or sys.stderr)
    handler.setFormatter(JsonFormatter(service))
    threshold = LEVELS[setting_level(level) or "INFO"]
    logging.addLevelName(LEVELS["TRACE"], "TRACE")
    logging.basicConfig(level=threshold, handlers=[handler], force=True)
    for name in NOISY_LOGGERS:
        logging.getLogger(name).setLevel(logging.CRITICAL)


KEYS: Final = ConfigDef(LOG_LEVEL, SPAN_ENDPOINT)


def begin_telemetry(service: str, worker: Mapping[str, str]) -> None:
    """Send the logs of this process to stderr, and spans where the worker's properties say.

    Raises:
        ConfigError: `log.level` is not a level.
    """
    found = KEYS.parse(worker)
    configure_logging(service, found[LOG_LEVEL.name])
    configure_tracing(service, found[SPAN_ENDPOINT.name])
