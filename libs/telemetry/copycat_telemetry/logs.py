"""Logs: one JSON object a line on stderr, so that people and machines can both read them."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Final, TextIO

from copycat_connect.config.secrets import HIDDEN_HERE
from copycat_connect.error_text import bounded, writable
from copycat_connect.log_levels import LEVELS, level_name, setting_level

from copycat_telemetry.context import what_about
from copycat_telemetry.loggers import NOISY_LOGGERS
from copycat_telemetry.repeats import RepeatLimit

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
