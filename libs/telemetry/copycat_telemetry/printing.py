"""What plugins print and log: lines with the connector's name, without secrets, and not gigabytes of them."""

from __future__ import annotations

import io
import logging
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import BinaryIO, Final, TextIO, cast

from copycat_connect.config.secrets import HIDDEN_HERE, Redactor

from copycat_telemetry.context import follow_threads, what_about

#: What a connector's code may write at once, and each second from then on, characters: 7 MB an hour of a
#: flood, so that it takes half a day to push the lines of others out of logs of 80 MB.
BURST: Final = 1_000_000
PER_SECOND: Final = 2_000
#: Between two lines that say how much was left out.
NOTE_INTERVAL_SECONDS: Final = 30.0
#: How long nothing is written, and not even looked at, once too much came.
PAUSE_SECONDS: Final = 1.0
#: What a line of the log costs beside its text: time, level, logger, connector.
LINE_CHARACTERS: Final = 200
#: A line that is longer becomes several: what fits into a pipe at once is not mixed with lines of others.
MAX_LINE_CHARACTERS: Final = 3_000
#: Connectors whose allowance is remembered; beyond it the one that wrote first begins anew.
MAX_CONNECTORS: Final = 1000
#: Loggers of ours, which are not limited here.
OWN_LOGGERS: Final = "copycat"

log = logging.getLogger("copycat_telemetry.printing")


def left_out(characters: int) -> str:
    """Say that much was left out."""
    return f"plugins print or log too much: {characters} characters left out, {PER_SECOND} a second are kept"


def _log_left_out(characters: int) -> None:
    log.warning("%s", left_out(characters))


class PrintAllowance:
    """How much may still be written; used from any thread."""

    def __init__(
        self, note: Callable[[int], None] = _log_left_out, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """`note` hears from time to time how many characters were left out."""
        self._note = note
        self._clock = clock
        self._lock = threading.Lock()
        self._left = float(BURST)
        self._at = clock()
        self._closed_until = self._at
        self._left_out = 0
        self._noted_at = self._at - NOTE_INTERVAL_SECONDS

    def used_up(self) -> bool:
        """Return whether nothing may be written for now."""
        return self._clock() < self._closed_until

    def take(self, characters: int) -> bool:
        """Return whether so much may be written now; if not, it is counted as left out."""
        with self._lock:
            now = self._clock()
            self._left = min(float(BURST), self._left + (now - self._at) * PER_SECOND)
            self._at = now
            allowed = now >= self._closed_until and characters <= self._left
            if allowed:
                self._left -= characters
            else:
                self._left_out += characters
                self._closed_until = max(self._closed_until, now + PAUSE_SECONDS)
        self.note()
        return allowed

    def leave_out(self, characters: int) -> None:
        """Count what is not written."""
        with self._lock:
            self._left_out += characters
        self.note()

    def note(self, *, now: bool = False) -> None:
        """Say how much was left out, if it is time for that, or `now`."""
        with self._lock:
            due = now or self._clock() - self._noted_at >= NOTE_INTERVAL_SECONDS
            left_out = self._left_out if due else 0
            if left_out:
                self._left_out, self._noted_at = 0, self._clock()
        if left_out:
            self._note(left_out)


class OutputLines:
    """Cuts what is written into lines, without secrets, and drops what exceeds an allowance."""

    def __init__(
        self,
        write: Callable[[str], None],
        allowance: Callable[[], PrintAllowance],
        redactor: Redactor = HIDDEN_HERE,
    ) -> None:
        """`write` takes a line; `allowance` is asked anew each time, since threads change what they do."""
        self._write = write
        self._allowance = allowance
        self._redactor = redactor
        self._held = ""  # what may be the beginning of a secret
        self._line = ""
        self._skips = False  # to the next beginning of a line

    def feed(self, text: str) -> None:
        """Handle what is written next."""
        allowance = self._allowance()
        if allowance.used_up():
            self.end()
            allowance.leave_out(len(text))
            self._skips = not text.endswith("\n")
            return
        if self._skips:
            rest = text.partition("\n")[2]
            allowance.leave_out(len(text) - len(rest))
            self._skips = not rest and not text.endswith("\n")
            text = rest
        shown, self._held = self._redactor.take(self._held + text, more=True)
        *lines, self._line = (self._line + shown).split("\n")
        if len(self._line) > MAX_LINE_CHARACTERS:
            lines.append(self._line)
            self._line = ""
        for line in lines:
            self._say(line, allowance)

    def end(self) -> None:
        """Write what was held back: nothing follows it."""
        line = self._line + self._redactor.last(self._held)
        self._line = self._held = ""
        self._say(line, self._allowance())

    def _say(self, line: str, allowance: PrintAllowance) -> None:
        for start in range(0, len(line), MAX_LINE_CHARACTERS):
            piece = line[start : start + MAX_LINE_CHARACTERS].rstrip()
            if piece and allowance.take(len(piece) + LINE_CHARACTERS):
                self._write(piece)

    def __del__(self) -> None:
        """Lose nothing when the thread that wrote it ends."""
        with suppress(Exception):
            self.end()


class PluginStream(io.TextIOBase):
    """What author code has for a standard stream: each line becomes one of the log."""

    unlimited: TextIO
    """What the process had: for plugins whose product is what they print."""

    def __init__(
        self, name: str, unlimited: TextIO, write: Callable[[str, str], None], allowances: Allowances
    ) -> None:
        """`write` takes the stream's name and a line."""
        super().__init__()
        self.unlimited = unlimited
        self._name = name
        self._write = write
        self._allowances = allowances
        self._own = threading.local()

    def write(self, text: str) -> int:
        """Write a text; what exceeds the allowance is dropped, so nobody waits for long."""
        own = self._own
        if getattr(own, "busy", False):
            return len(text)  # the log itself complains of the line that is being written
        own.busy = True
        try:
            if not hasattr(own, "lines"):
                own.lines = OutputLines(lambda line: self._write(self._name, line), self._allowances.current)
            own.lines.feed(text)
        finally:
            own.busy = False
        return len(text)

    def writable(self) -> bool:
        """Return that it is."""
        return True

    def fileno(self) -> int:
        """Return the file descriptor that child processes may be given."""
        return 2 if self._name == "stderr" else 1

    @property
    def buffer(self) -> BinaryIO:
        """For bytes: what the reader of this process's output gets."""
        stream = sys.__stderr__ if self._name == "stderr" else sys.__stdout__
        assert stream is not None  # no process of ours is started without
        return cast(BinaryIO, stream.buffer)

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """Encoding of texts."""
        return "utf-8"


class Allowances:
    """What the code of each connector may still write."""

    def __init__(self) -> None:
        self._found: dict[str, PrintAllowance] = {}

    def current(self) -> PrintAllowance:
        """Return the allowance of the connector that this thread works for."""
        connector = what_about().get("connector", "")
        found = self._found.get(connector)
        if found is None:
            found = self._found.setdefault(connector, PrintAllowance())
            if len(self._found) > MAX_CONNECTORS:
                self._found.pop(next(iter(self._found)), None)
        return found


def limit_printing(stdout: TextIO, stderr: TextIO) -> None:
    """Make log lines of what the code of plugins prints, and bound what it logs.

    Called after `configure_logging`. `stdout` and `stderr` are for plugins whose product is what they print.
    """
    follow_threads()
    allowances = Allowances()
    handlers = list(logging.getLogger().handlers)

    def kept(record: logging.LogRecord) -> bool:
        if record.name.startswith(OWN_LOGGERS) or getattr(record, "counted", False):
            return True
        return allowances.current().take(len(record.getMessage()) + LINE_CHARACTERS)

    def write(name: str, line: str) -> None:
        record = logging.LogRecord(name, logging.INFO, __file__, 0, "%s", (line,), None)
        record.counted = True
        for handler in handlers:
            handler.handle(record)

    for handler in handlers:
        handler.addFilter(kept)
    sys.stdout = PluginStream("stdout", stdout, write, allowances)
    sys.stderr = PluginStream("stderr", stderr, write, allowances)
    logging.captureWarnings(True)
    threading.excepthook = _log_thread_error
    sys.unraisablehook = _log_unraisable


def _log_thread_error(args: threading.ExceptHookArgs) -> None:
    if args.exc_type is not SystemExit:  # the way to end a thread
        name = args.thread.name if args.thread else "?"
        _log_error("the thread %s of a plugin ended with an error", name, args.exc_value)


def _log_unraisable(args: sys.UnraisableHookArgs) -> None:
    _log_error("%s", args.err_msg or "an error that no code can catch, in a finalizer", args.exc_value)


def _log_error(text: str, what: str, error: BaseException | None) -> None:
    logging.getLogger("plugin").error(text, what, exc_info=error)
