"""How often something failed, and when it is tried again: by the class of the error."""

from __future__ import annotations

import logging

from copycat_connect.errors import ConnectError, RetriableError

from copycat_plugins.connectors.jdbc.errors import Refused
from copycat_plugins.connectors.jdbc_sink import spec
from copycat_plugins.connectors.jdbc_sink.settings import Settings

_log = logging.getLogger(__name__)


class Attempts:
    """Counts failures in a row."""

    def __init__(self, settings: Settings) -> None:
        """Take the limits."""
        self._settings = settings
        self._failures = 0
        self._refusals = 0

    def succeeded(self) -> None:
        """Begin to count anew."""
        self._failures = self._refusals = 0

    def failed(self, error: ConnectError) -> int:
        """Return in how many milliseconds to try again.

        Raises:
            ConnectError: It is not tried again: the error never passes, or came too often.
        """
        settings = self._settings
        if isinstance(error, Refused):
            self._refusals += 1
            if self._refusals >= settings.attempts:
                message = f"{error.message}; tried {self._refusals} times ({spec.ATTEMPTS})"
                raise ConnectError(message) from error
            _log.warning("%s (attempt %d of %d)", error.message, self._refusals, settings.attempts)
            return settings.connect_millis
        if not isinstance(error, RetriableError):
            raise error
        self._failures += 1
        if self._failures > settings.max_retries:
            message = f"{error.message}; tried {self._failures} times ({spec.MAX_RETRIES})"
            raise ConnectError(message) from error
        _log.warning("%s (retry %d of %d)", error.message, self._failures, settings.max_retries)
        return settings.retry_millis
