"""A client of the REST interfaces, as a load balancer before them sees it."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from types import TracebackType
from typing import Final

import httpx2

from tools.containers.fleet import Fleet

PAUSE_SECONDS: Final = 0.2
ANSWER_SECONDS: Final = 90.0


class Asking:
    """Reads and writes until it is left; where a gateway cannot be connected to, the next one is asked."""

    def __init__(self, fleet: Fleet, connector: str) -> None:
        """Keep whom to ask, and the connector of which; nothing is asked yet."""
        self.answered = 0
        """Requests that were answered well."""
        self.failures: list[str] = []
        """What was answered otherwise, or not at all."""
        self._fleet = fleet
        self._connector = connector
        self._done = threading.Event()
        self._pool = ThreadPoolExecutor(1, "asking")

    def _ask(self) -> None:
        turn = 0
        while not self._done.wait(PAUSE_SECONDS):
            turn += 1
            for method, path, body in (
                ("GET", f"/connectors/{self._connector}/status", None),
                ("GET", f"/connectors/{self._connector}/offsets", None),
                ("PUT", f"/connectors/{self._connector}-stopped/config", _stopped(turn)),
            ):
                self._ask_one(method, path, body)
        with suppress(httpx2.HTTPError):
            self._request("DELETE", f"/connectors/{self._connector}-stopped", None)

    def _ask_one(self, method: str, path: str, body: dict[str, str] | None) -> None:
        try:
            reply = self._request(method, path, body)
        except httpx2.HTTPError as error:
            self.failures.append(f"{method} {path}: {error!r}")
            return
        if reply.is_success:
            self.answered += 1
        else:
            self.failures.append(f"{method} {path}: {reply.status_code} {reply.text}")

    def _request(self, method: str, path: str, body: dict[str, str] | None) -> httpx2.Response:
        for url in self._fleet.urls:
            with suppress(httpx2.ConnectError, httpx2.ConnectTimeout):
                return httpx2.request(
                    method, f"{url}{path}", json=body, timeout=httpx2.Timeout(ANSWER_SECONDS, connect=2)
                )
        raise httpx2.ConnectError("no gateway takes connections")

    def __enter__(self) -> Asking:
        """Begin to ask."""
        self._asking = self._pool.submit(self._ask)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Ask no more; raises what ended it before."""
        self._done.set()
        self._pool.shutdown()
        self._asking.result()


def _stopped(turn: int) -> dict[str, str]:
    """Return the configuration of a connector that moves nothing, another one each time."""
    nowhere = {"file": "/data/no-such-file", "topic": "nothing"}
    return {"connector.class": "FileStreamSource", "tasks.max": "1", **nowhere, "turn": str(turn)}
