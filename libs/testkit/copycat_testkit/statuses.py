"""What the REST interface says of connectors, asked all the time by somebody who does not wait for long."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final

import httpx2

PAUSE_SECONDS: Final = 0.05
ANSWER_SECONDS: Final = 2.0


@dataclass(frozen=True, slots=True)
class Said:
    """One answer, or none."""

    asked: float
    """When, of `time.monotonic`."""
    heard: float
    """When the answer came, or was not waited for any longer."""
    running: bool | None
    """Whether everything asked about was said to run; None when nobody answered."""
    healthy: bool
    """Every service answers."""


class WatchedStatuses:
    """Asks in a thread of its own until it is left."""

    def __init__(self, url: Callable[[], str], tasks: Mapping[str, int]) -> None:
        """Keep where to ask, and how many tasks each connector has; nothing is asked yet.

        `url` is asked again whenever nobody answers: a gateway that starts again may have another address.
        """
        self.said: list[Said] = []
        """Every answer, in order."""
        self._url = url
        self._tasks = tasks
        self._done = threading.Event()
        self._threads = [
            threading.Thread(target=self._ask_all, name="statuses"),
            threading.Thread(target=self._ask_health, name="health"),
        ]
        self._healthy = False

    def running(self) -> bool:
        """Tell whether the latest answer said that everything runs and every service is there."""
        return bool(self.said) and bool(self.said[-1].running) and self.said[-1].healthy

    def _ask_all(self) -> None:
        url = self._url()
        with _client() as http:
            while not self._done.wait(PAUSE_SECONDS):
                asked, running = time.monotonic(), None
                try:
                    running = _all_run(http.get(f"{url}/connectors?expand=status"), self._tasks)
                except httpx2.TransportError:
                    url = self._url()
                self.said.append(Said(asked, time.monotonic(), running, self._healthy))

    def _ask_health(self) -> None:
        url = self._url()
        with _client() as http:
            while not self._done.wait(PAUSE_SECONDS):
                try:
                    self._healthy = http.get(f"{url}/health").is_success
                except httpx2.TransportError:
                    self._healthy = False
                    url = self._url()

    def __enter__(self) -> WatchedStatuses:
        """Begin to ask."""
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Ask no more."""
        self._done.set()
        for thread in self._threads:
            thread.join()


def _client() -> httpx2.Client:
    """Return a client that keeps no connection: the gateway may be another one next time."""
    return httpx2.Client(timeout=ANSWER_SECONDS, limits=httpx2.Limits(max_keepalive_connections=0))


def _all_run(reply: httpx2.Response, tasks: Mapping[str, int]) -> bool | None:
    if not reply.is_success:
        return None
    found = reply.json()
    return all(name in found and _runs(found[name]["status"], count) for name, count in tasks.items())


def _runs(status: Mapping[str, Any], count: int) -> bool:
    parts: Collection[Mapping[str, Any]] = (status["connector"], *status["tasks"])
    return len(status["tasks"]) == count and all(
        part["state"] == "RUNNING" and not part.get("trace") and not part.get("reason") for part in parts
    )
