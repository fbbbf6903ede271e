"""What plugins print and log: passed on, but not gigabytes of it."""

from __future__ import annotations

import io
import logging
import sys
import threading
import time
from collections.abc import Callable
from typing import Final, TextIO

from copycat_telemetry.context import follow_threads

#: What may be written at once, and each second from then on, characters.
BURST: Final = 1_000_000
PER_SECOND: Final = 100_000
#: Between two lines that say how much was left out.
NOTE_INTERVAL_SECONDS: Final = 30.0
#: Loggers of ours, which are not limited here.
OWN_LOGGERS: Final = "copycat"

log = logging.getLogger("copycat_telemetry.printing")


class PrintAllowance:
    """How much may still be written; used from any thread."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._left = float(BURST)
        self._at = clock()
        self._left_out = 0
        self._noted_at = self._at - NOTE_INTERVAL_SECONDS

    def take(self, characters: int) -> bool:
        """Return whether so much may be written now."""
        note = 0
        with self._lock:
            now = self._clock()
            self._left = min(float(BURST), self._left + (now - self._at) * PER_SECOND)
            self._at = now
            allowed = characters <= self._left
            if allowed:
                self._left -= characters
            else:
                self._left_out += characters
                if now - self._noted_at >= NOTE_INTERVAL_SECONDS:
                    note, self._left_out, self._noted_at = self._left_out, 0, now
        if note:
            log.warning(
                "plugins of this process print or log too much: %d characters left out, %d a second are kept",
                note,
                PER_SECOND,
            )
        return allowed


class LimitedStream(io.TextIOBase):
    """A text stream that drops what exceeds an allowance; it never blocks who prints for long."""

    unlimited: TextIO
    """What is under it: for plugins whose product is what they print."""

    def __init__(self, stream: TextIO, allowance: PrintAllowance) -> None:
        super().__init__()
        self.unlimited = self._stream = stream
        self._allowance = allowance

    def write(self, text: str) -> int:
        """Write a text, or drop it."""
        if self._allowance.take(len(text)):
            self._stream.write(text)
        return len(text)

    def writable(self) -> bool:
        """Return that it is."""
        return True

    def flush(self) -> None:
        """Flush what is under it."""
        self._stream.flush()

    def fileno(self) -> int:
        """Return the file descriptor under it, for libraries that want one."""
        return self._stream.fileno()

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """Encoding of what is under it."""
        return self._stream.encoding


def limit_printing() -> None:
    """Limit what the code of plugins prints and logs in this process; called after `configure_logging`."""
    follow_threads()
    allowance = PrintAllowance()

    def kept(record: logging.LogRecord) -> bool:
        return record.name.startswith(OWN_LOGGERS) or allowance.take(len(record.getMessage()))

    for handler in logging.getLogger().handlers:
        handler.addFilter(kept)
    sys.stdout = LimitedStream(sys.stdout, allowance)
    sys.stderr = LimitedStream(sys.stderr, allowance)
