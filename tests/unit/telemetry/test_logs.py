"""Log lines."""

from __future__ import annotations

import json
import logging
from contextvars import copy_context

from copycat_telemetry.context import keep_secret
from copycat_telemetry.logs import JsonFormatter


def line(message: str, error: Exception | None = None) -> dict[str, str]:
    info = None if error is None else (type(error), error, error.__traceback__)
    record = logging.LogRecord("l", logging.ERROR, __file__, 1, message, None, info)
    found: dict[str, str] = json.loads(JsonFormatter("host").format(record))
    return found


def test_secrets_are_kept_out_of_message_and_trace() -> None:
    def log() -> dict[str, str]:
        keep_secret(lambda text: text.replace("hunter2", "${env:PASSWORD}"))
        return line("wrong: hunter2", ValueError("not hunter2"))

    written = copy_context().run(log)

    assert written["message"] == "wrong: ${env:PASSWORD}"
    assert "hunter2" not in written["trace"]
    assert line("hunter2")["message"] == "hunter2"
