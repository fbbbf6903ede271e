"""Rows read ahead of what is delivered, by a thread of their own (`max.buffer.size`)."""

from __future__ import annotations

import threading
from collections import deque

from copycat_connect.errors import RetriableError

from copycat_jdbc.source.reader import Rows
from copycat_jdbc.source.turns import Turns

_LOOK_SECONDS = 0.5
_STOP_SECONDS = 10.0


class ReadAhead:
    """Holds so many rows at most, and one batch more than these."""

    def __init__(self, turns: Turns, rows: int) -> None:
        """Use what reads, which belongs to the thread from now on, and how many rows may wait."""
        self._turns = turns
        self._most = rows
        self._waiting: deque[Rows | BaseException] = deque()
        self._rows = 0
        self._changed = threading.Condition()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="jdbc-read-ahead", daemon=True)
        self._thread.start()

    def take(self, seconds: float) -> Rows | None:
        """Return the next rows, or nothing when none came in time.

        Raises:
            RetriableError: The server is away; it is tried again.
            BaseException: What was asked for cannot work, or the thread has failed; nothing more is read.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._waiting, seconds)
            if not self._waiting:
                return None
            found = self._waiting.popleft()
            self._rows -= _rows(found)
            self._changed.notify_all()
        if isinstance(found, BaseException):
            raise found
        return found

    def close(self) -> None:
        """End the thread, and what it has open."""
        self._stopping.set()
        with self._changed:
            self._changed.notify_all()
        self._thread.join(_STOP_SECONDS)

    def _run(self) -> None:
        try:
            while not self._stopping.is_set():
                try:
                    found = self._turns.take()
                except RetriableError as error:
                    self._put(error)
                except BaseException as error:  # without it the task would wait for rows for ever
                    self._put(error)
                    return
                else:
                    if isinstance(found, float):
                        self._stopping.wait(min(found, _LOOK_SECONDS))
                    else:
                        self._put(found)
        finally:
            self._turns.close()

    def _put(self, found: Rows | BaseException) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._rows < self._most or self._stopping.is_set())
            self._waiting.append(found)
            self._rows += _rows(found)
            self._changed.notify_all()


def _rows(found: Rows | BaseException) -> int:
    return 0 if isinstance(found, BaseException) else len(found)
