"""Logs: one JSON object a line on stderr, so that people and machines can both read them."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime

from copycat_telemetry.context import log_context, log_scrubber

#: Libraries that write a line per connection attempt while a broker is away (`spec/faust.md` section 6).
NOISY = ("aiokafka", "faust", "mode", "kafka", "py4j", "uvicorn.error", "uvicorn.access")


class JsonFormatter(logging.Formatter):
    """Formats a record as one JSON object with the service and what it was about."""

    def __init__(self, service: str) -> None:
        super().__init__()
        self._service = service

    def format(self, record: logging.LogRecord) -> str:
        """Return the line; an exception's trace goes into `trace`."""
        scrub = log_scrubber.get()
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "service": self._service,
            "logger": record.name,
            "message": scrub(record.getMessage()),
            **log_context.get(),
        }
        if record.exc_info:
            line["trace"] = scrub(self.formatException(record.exc_info))
        return json.dumps(line, ensure_ascii=False, default=str)


def configure_logging(service: str, level: str = "WARNING") -> None:
    """Send every log record of this process to stderr as JSON; called once, by a `main`."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter(service))
    logging.basicConfig(level=level, handlers=[handler], force=True)
    for name in NOISY:
        logging.getLogger(name).setLevel(logging.CRITICAL)
