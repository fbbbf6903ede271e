"""Warnings and errors that repeat are written a few times, then counted."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator

import pytest
from copycat_connect.config.secrets import Secrets
from copycat_telemetry.changes import log_change
from copycat_telemetry.context import about
from copycat_telemetry.logs import JsonFormatter, LimitedHandler
from copycat_telemetry.repeats import MAX_LINES_PER_WINDOW, WINDOW_SECONDS, RepeatLimit


class Log:
    """A logger whose written lines are kept."""

    def __init__(self) -> None:
        self.now = 100.0
        self._stream = io.StringIO()
        self.handler = LimitedHandler(self._stream)
        self.handler.setFormatter(JsonFormatter("host"))
        self.limit = RepeatLimit(self.handler._limit._write, clock=lambda: self.now)
        self.handler._limit = self.limit
        self.logger = logging.Logger("some.client", 1)
        self.logger.addHandler(self.handler)

    @property
    def lines(self) -> list[dict[str, str]]:
        return [json.loads(line) for line in self._stream.getvalue().splitlines()]

    @property
    def messages(self) -> list[str]:
        return [line["message"] for line in self.lines]


@pytest.fixture
def log() -> Iterator[Log]:
    made = Log()
    yield made
    made.handler.close()


def refused(log: Log, port: int, connector: str = "orders") -> None:
    """Log as confluent-kafka does for librdkafka, whose numbers differ from line to line."""
    text = f"[thrd:127.0.0.1:{port}/1]: Connect failed: Connection refused (after {port}ms in state CONNECT)"
    with about(connector=connector):
        log.logger.error("%s [%s] %s", "FAIL", f"connector-consumer-{connector}-0#consumer-{port}", text)


def test_of_an_error_a_hundred_times_over_some_are_written_and_the_rest_is_counted(log: Log) -> None:
    for port in range(100):
        refused(log, port)
    assert len(log.lines) == MAX_LINES_PER_WINDOW

    log.now += WINDOW_SECONDS
    refused(log, 100)

    assert len(log.lines) == MAX_LINES_PER_WINDOW + 2
    summary = log.lines[-2]
    assert summary["message"].startswith(
        f"{100 - MAX_LINES_PER_WINDOW} more like this in the last 30 s: FAIL ["
    )
    assert (summary["level"], summary["connector"], summary["logger"]) == ("ERROR", "orders", "some.client")


def test_the_count_is_written_though_no_such_line_comes_any_more(log: Log) -> None:
    for port in range(20):
        refused(log, port)
    log.limit.flush()

    assert log.messages[-1].startswith(f"{20 - MAX_LINES_PER_WINDOW} more like this")
    log.limit.flush()
    assert len(log.lines) == MAX_LINES_PER_WINDOW + 1


def test_connectors_do_not_hide_each_other(log: Log) -> None:
    for connector in ("orders", "bills"):
        for port in range(100):
            refused(log, port, connector)

    assert [line["connector"] for line in log.lines] == ["orders"] * 5 + ["bills"] * 5


def test_a_warning_is_of_one_kind_whatever_its_values_are(log: Log) -> None:
    for reason in map(chr, range(97, 123)):
        log.logger.warning("offsets were not committed: %s", reason)

    assert len(log.lines) == MAX_LINES_PER_WINDOW


def test_information_is_never_left_out(log: Log) -> None:
    for _ in range(50):
        log_change(log.logger, "task assigned", connector="orders", task=0)

    assert len(log.lines) == 50


def test_errors_that_a_user_wants_one_by_one_are_all_written(log: Log) -> None:
    for _ in range(50):
        log.logger.error("Error encountered in task %s.", "orders-0", extra={"unlimited": True})

    assert len(log.lines) == 50


def test_the_count_keeps_secrets_out_whoever_writes_it(log: Log) -> None:
    Secrets.of({"hunter2-of-the-count": "${env:PASSWORD}"}).hide()

    for _ in range(10):
        log.logger.error("refused: %s", "hunter2-of-the-count")
    log.limit.flush()  # as the timer does

    assert log.messages[-1].endswith("refused: ${env:PASSWORD}")


def test_the_traces_of_py4j_for_a_jvm_that_is_gone_are_left_out(log: Log) -> None:
    place = "/site-packages/py4j/java_gateway.py"
    record = logging.LogRecord("root", logging.INFO, place, 1, "Exception while sending command.", None, None)
    log.handler.handle(record)

    assert log.lines == []


def test_a_change_has_its_keys_as_fields_of_their_own(log: Log) -> None:
    log_change(log.logger, "connector deleted", connector="orders", task=None, by="ann")

    (line,) = log.lines
    assert (line["message"], line["level"]) == ("connector deleted", "INFO")
    assert (line["connector"], line["by"]) == ("orders", "ann")
    assert "task" not in line
