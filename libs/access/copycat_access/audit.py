"""Audit lines: who did what, when, to which connector, and what came of it."""

from __future__ import annotations

import logging
import os
from enum import StrEnum
from io import TextIOWrapper
from logging.handlers import WatchedFileHandler
from typing import Final

from copycat_connect.errors import ConfigError
from copycat_connect.files import open_private
from copycat_telemetry.logs import JsonFormatter

from copycat_access.settings import AUDIT_FILE

LOGGER: Final = "copycat.audit"
MAX_TEXT_CHARACTERS: Final = 300


class AuditOutcome(StrEnum):
    """What came of a request."""

    ALLOWED = "allowed"
    """It was carried out."""
    DENIED = "denied"
    """Whoever asked is not known, or may not do it; nothing was done."""
    FAILED = "failed"
    """It was let through, and refused or failed for another reason."""


class Audit:
    """Writes the lines; no level of logging silences them."""

    def __init__(self, service: str, file: str | None) -> None:
        """Write to a file, or, without one, where the log of this process goes.

        Raises:
            ConfigError: The file cannot be written.
        """
        self._log = logging.getLogger(LOGGER)
        self._own = None if file is None else _opened(service, file)

    def write(self, outcome: AuditOutcome, **about: object) -> None:
        """Write a line; `about` is what is known, None is left out. Never a secret, never a body."""
        known = {key: _short(value) for key, value in about.items() if value not in (None, "")}
        record = self._log.makeRecord(
            LOGGER, logging.INFO, __file__, 0, "%s", ("request",), None, extra={
                "fields": {"outcome": outcome.value, **known}, "unlimited": True,
            },
        )  # fmt: skip
        if self._own is not None:
            self._own.handle(record)
        else:
            self._log.handle(record)

    def close(self) -> None:
        """Close the file."""
        if self._own is not None:
            self._own.close()


class _PrivateFile(WatchedFileHandler):
    """A file for its owner only; one that was moved away is made anew, as rotation of logs expects."""

    def _open(self) -> TextIOWrapper:
        return open(self.baseFilename, "a", encoding="utf-8", opener=open_private)


def _opened(service: str, file: str) -> logging.Handler:
    try:
        handler = _PrivateFile(os.path.abspath(file), encoding="utf-8")  # noqa: PTH100 - as logging itself does
    except OSError as error:
        raise ConfigError(
            f"{AUDIT_FILE} names {file}, which cannot be written ({error.strerror}): let it name a file in a"
            " folder that is there and ours",
            key=AUDIT_FILE,
        ) from error
    handler.setFormatter(JsonFormatter(service))
    return handler


def _short(value: object) -> object:
    return value[:MAX_TEXT_CHARACTERS] if isinstance(value, str) else value
