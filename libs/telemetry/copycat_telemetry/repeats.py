"""Warnings and errors that repeat: the first ones of each kind are written, then how many more there were."""

from __future__ import annotations

import logging
import re
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from copycat_telemetry.context import log_context, what_about

#: Lines of one kind that are written in a window; the rest of it is counted.
MAX_LINES_PER_WINDOW: Final = 5
WINDOW_SECONDS: Final = 30.0
#: How many kinds are distinguished at a time; beyond it the one that began first is forgotten.
MAX_KINDS: Final = 1000
MAX_KIND_CHARACTERS: Final = 200
#: What distinguishes lines of one kind that are about different things.
SUBJECT_FIELDS: Final = ("connector", "task", "host", "worker", "topic")
_NUMBERS: Final = re.compile(r"0x[0-9a-fA-F]+|\d+")

Kind = tuple[object, ...]


@dataclass(slots=True)
class _Window:
    """What came of one kind since its first line."""

    began: float
    written: int = 0
    left_out: int = 0
    last: logging.LogRecord | None = None
    context: Mapping[str, str] = field(default_factory=what_about)


class RepeatLimit:
    """Decides which warnings and errors are written; may be called from any thread.

    Lines are of one kind when logger, level, connector, task and text are the same, numbers apart. A record
    with a true attribute `unlimited` is always written, as is whatever is less than a warning.
    """

    def __init__(
        self,
        write: Callable[[logging.LogRecord], None],
        *,
        clock: Callable[[], float] = time.monotonic,
        lines: int = MAX_LINES_PER_WINDOW,
        seconds: float = WINDOW_SECONDS,
    ) -> None:
        """`write` takes what is to be written."""
        self._write = write
        self._clock = clock
        self._lines = lines
        self._seconds = seconds
        self._lock = threading.Lock()
        self._windows: dict[Kind, _Window] = {}
        self._timer: threading.Timer | None = None

    def take(self, record: logging.LogRecord) -> None:
        """Write a record, or count it."""
        if record.levelno < logging.WARNING or getattr(record, "unlimited", False):
            self._write(record)
            return
        ended, counted = None, False
        with self._lock:
            kind = _kind(record)
            window = self._windows.get(kind)
            if window is None or self._clock() - window.began >= self._seconds:
                ended = self._windows.pop(kind, None)
                window = self._windows[kind] = _Window(self._clock())
                if len(self._windows) > MAX_KINDS:
                    del self._windows[next(iter(self._windows))]
            if window.written < self._lines:
                window.written += 1
            else:
                counted = True
                window.left_out += 1
                window.last = record
                self._wake()
        if ended is not None:
            self._sum_up(ended)
        if not counted:
            self._write(record)

    def flush(self, *, everything: bool = True) -> None:
        """Write how many lines were left out; of windows that are not over, too, if `everything`."""
        with self._lock:
            now = self._clock()
            due = {
                kind: window
                for kind, window in self._windows.items()
                if everything or now - window.began >= self._seconds
            }
            for kind in due:
                del self._windows[kind]
            self._timer = None
            if any(window.left_out for window in self._windows.values()):
                self._wake()
        for window in due.values():
            self._sum_up(window)

    def _flush_later(self) -> None:
        log_context.set({})  # the lines are about what they say, not about who started this thread
        self.flush(everything=False)

    def _wake(self) -> None:
        """See to it that the count is written though no such line may come any more."""
        if self._timer is None:
            self._timer = threading.Timer(self._seconds, self._flush_later)
            self._timer.daemon = True
            self._timer.start()

    def _sum_up(self, window: _Window) -> None:
        last = window.last
        if last is None:
            return
        seconds = max(1, round(self._clock() - window.began))
        text = f"{window.left_out} more like this in the last {seconds} s: {last.getMessage()}"
        summary = logging.LogRecord(last.name, last.levelno, last.pathname, last.lineno, text, None, None)
        summary.fields = {**window.context, **getattr(last, "fields", {})}
        self._write(summary)


def _kind(record: logging.LogRecord) -> Kind:
    about = {**what_about(), **getattr(record, "fields", {})}
    text = _NUMBERS.sub("#", record.getMessage()[:MAX_KIND_CHARACTERS])
    if record.args and not record.msg.startswith("%s"):
        text = str(record.msg)  # with other values it is of the same kind
    return (record.name, record.levelno, text, *(about.get(subject) for subject in SUBJECT_FIELDS))
