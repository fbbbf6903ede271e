"""One side of the folder a connector shares with its test; the other is `monitors.py`."""

from __future__ import annotations

import errno
import json
import os
import time
from pathlib import Path
from typing import Any

from copycat_connect.errors import ConnectError, RetriableError

POLL_SECONDS = 0.02


class Monitor:
    """Writes down what happens to one connector or task, and obeys orders to go wrong."""

    def __init__(self, folder: str, who: str) -> None:
        """`who` is `connector` or `task <index>`."""
        self._journal = Path(folder) / "journal"
        self._orders = Path(folder) / "orders"
        self._who = who

    def happens(self, what: str, **details: Any) -> None:
        """Write something down, then raise or block if that was ordered for it."""
        self.note(what, **details)
        self.obey(what)

    def note(self, what: str, **details: Any) -> None:
        """Write something down, in one piece: several processes write."""
        line = json.dumps({"who": self._who, "what": what, **details}) + "\n"
        descriptor = os.open(self._journal, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(descriptor, line.encode())
        finally:
            os.close(descriptor)

    def obey(self, what: str) -> None:
        """Raise or block if that was ordered; a system can also be away."""
        if f"{self._who} {what} raises" in self._ordered():
            message = f"{self._who} was told to fail in {what}"
            raise ConnectError(message)
        if f"{self._who} {what} finds nobody" in self._ordered():
            message = f"{self._who} was told to find nobody in {what}"
            raise ConnectError(message) from ConnectionRefusedError(errno.ECONNREFUSED, "refused")
        if f"{self._who} {what} is away" in self._ordered():
            message = f"{self._who} finds nothing at {self._orders.parent} in {what}"
            raise RetriableError(message) from ConnectionRefusedError(errno.ECONNREFUSED, "refused")
        if f"{self._who} {what} blocks" in self._ordered():
            self.note(f"{what} blocked")
        while f"{self._who} {what} blocks" in self._ordered():
            time.sleep(POLL_SECONDS)  # deaf on purpose: author code that hangs does not ask whether it may

    def _ordered(self) -> list[str]:
        try:
            return self._orders.read_text().splitlines()
        except FileNotFoundError:
            return []
