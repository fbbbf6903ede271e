"""Failures as text in the form Kafka Connect users know: class and message, frames, causes."""

from __future__ import annotations

import traceback
from typing import Final

from copycat_connect.error_text import text_of, writable
from copycat_connect.errors import ConfigError, ConnectError, DataError, RetriableError
from copycat_connect.failure_kind import causes

_JAVA: Final[dict[type[BaseException], str]] = {
    ConnectError: "org.apache.kafka.connect.errors.ConnectException",
    RetriableError: "org.apache.kafka.connect.errors.RetriableException",
    DataError: "org.apache.kafka.connect.errors.DataException",
    ConfigError: "org.apache.kafka.common.config.ConfigException",
}


def class_name(error: BaseException) -> str:
    """Name an error's class; those Kafka Connect has too get its names."""
    cls = type(error)
    return _JAVA.get(cls) or f"{cls.__module__}.{cls.__qualname__}".removeprefix("builtins.")


def trace_text(error: BaseException) -> str:
    """Write an error with the frames it passed, innermost first, and its causes; UTF-8 can hold it."""
    lines: list[str] = []
    for current in causes(error):
        head = "Caused by: " if lines else ""
        text = text_of(current)
        lines.append(f"{head}{class_name(current)}: {text}" if text else f"{head}{class_name(current)}")
        lines.extend(
            f"\tat {frame.name}({frame.filename}:{frame.lineno})"
            for frame in reversed(traceback.extract_tb(current.__traceback__))
        )
    return writable("\n".join(lines) + "\n")
