"""What a collector did not take: counted, and logged now and then."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Final

log = logging.getLogger(__name__)

#: Between two lines about a collector that is away.
LOG_INTERVAL_SECONDS: Final = 300.0


class Losses:
    """Counts what is dropped; may be called from any thread."""

    def __init__(self, what: str, endpoint: str, clock: Callable[[], float] = time.monotonic) -> None:
        """`what` is spans or metrics; `endpoint` is where they were to go."""
        self._what = what
        self._endpoint = endpoint
        self._clock = clock
        self._lock = threading.Lock()
        self._logged_at: float | None = None
        self.dropped = 0
        """Since the process began."""

    def note(self, number: int) -> None:
        """Count so many that are dropped; the first are logged, then one line in five minutes at most."""
        with self._lock:
            self.dropped += number
            now = self._clock()
            if self._logged_at is not None and now - self._logged_at < LOG_INTERVAL_SECONDS:
                return
            self._logged_at, dropped = now, self.dropped
        log.warning(
            "The collector at %s does not take the %s of this process: %d dropped so far. "
            "Nothing else suffers; check otel.exporter.otlp.endpoint, or leave it out",
            self._endpoint,
            self._what,
            dropped,
        )
