"""Log lines."""

from __future__ import annotations

import json
import logging
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from copycat_connect.config.secrets import Secrets
from copycat_telemetry.context import about, follow_threads
from copycat_telemetry.logs import JsonFormatter


def line(message: str, error: Exception | None = None) -> dict[str, str]:
    info = None if error is None else (type(error), error, error.__traceback__)
    record = logging.LogRecord("l", logging.ERROR, __file__, 1, message, None, info)
    found: dict[str, str] = json.loads(JsonFormatter("host").format(record))
    return found


def in_a_thread(message: str, error: Exception | None = None) -> dict[str, str]:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(line, message, error).result()


def test_secrets_are_kept_out_of_message_and_trace_whichever_thread_writes_them() -> None:
    Secrets.of({"hunter2-of-the-logs": "${env:PASSWORD}"}).hide()

    for written in (line("wrong: hunter2-of-the-logs"), in_a_thread("wrong: hunter2-of-the-logs")):
        assert written["message"] == "wrong: ${env:PASSWORD}"
    assert "hunter2" not in in_a_thread("", ValueError("not hunter2-of-the-logs"))["trace"]


def test_a_line_of_a_thread_is_about_what_its_starter_was_about(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading.Thread, "start", threading.Thread.start)  # put back afterwards
    follow_threads()
    with about(connector="orders", task="0"):
        written = in_a_thread("hello")

    assert (written["connector"], written["task"]) == ("orders", "0")
    assert "connector" not in in_a_thread("hello")
