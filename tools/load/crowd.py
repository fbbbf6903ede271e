"""Connectors that do next to nothing, and what REST says of them."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final

import httpx2
from copycat_testkit.eventually import wait

TASKS: Final = 2
TOPIC: Final = "load-records"
CLIENTS: Final = 4
READS: Final = 60
WRITES: Final = 30
#: What a worker says while work moves; asked again.
REPEATED: Final = {409, 500, 503}
RETRY_SECONDS: Final = 0.2
LOOK_SECONDS: Final = 0.2
ANSWER_SECONDS: Final = 120.0


@dataclass(frozen=True, slots=True)
class Latency:
    """How long answers took, in milliseconds."""

    median: float
    high: float
    """The 99th percentile."""


class Crowd:
    """The connectors of one cluster, by number."""

    def __init__(self, url: str, patience: float) -> None:
        """Keep the root of REST, and the seconds to wait for anything."""
        self.patience = patience
        self.names: set[str] = set()
        """Of all that are defined."""
        self._http = httpx2.Client(base_url=url, timeout=ANSWER_SECONDS)

    def define(self, numbers: range) -> float:
        """Define these, several at a time; returns the connectors a second."""
        began = time.monotonic()
        with ThreadPoolExecutor(CLIENTS) as clients:
            list(clients.map(lambda number: self.put(name_of(number)), numbers))
        return len(numbers) / (time.monotonic() - began)

    def put(self, name: str, change: str = "") -> None:
        """Define a connector or change it."""
        self.ask("PUT", f"/connectors/{name}/config", config(change))
        self.names.add(name)

    def delete(self, name: str) -> None:
        """Delete a connector."""
        self.ask("DELETE", f"/connectors/{name}")
        self.names.discard(name)

    def restart(self, name: str) -> None:
        """Restart a connector and its tasks, as soon as a new one has a status."""
        self.ask("POST", f"/connectors/{name}/restart?includeTasks=true", repeated=REPEATED | {404})

    def ask(
        self,
        method: str,
        path: str,
        body: dict[str, str] | None = None,
        repeated: Collection[int] = REPEATED,
    ) -> httpx2.Response:
        """Ask until it is accepted, again after answers of `repeated`.

        Raises:
            RuntimeError: It is refused for good, or for too long.
        """
        end = time.monotonic() + self.patience
        while True:
            reply = self._http.request(method, path, json=body)
            if reply.is_success:
                return reply
            if reply.status_code not in repeated or time.monotonic() > end:
                raise RuntimeError(f"{method} {path} answered {reply.status_code}: {reply.text[:300]}")
            time.sleep(RETRY_SECONDS)

    def until_running(self) -> float:
        """Wait until every task runs; returns the seconds that took.

        Raises:
            TimeoutError: They do not within the patience.
        """
        began = time.monotonic()

        def all_run() -> bool:
            tasks = self.tasks()
            running = [each for each in tasks if each["state"] == "RUNNING"]
            return len(running) == len(tasks) == TASKS * len(self.names)

        return wait(all_run, self.patience, "not all tasks run", LOOK_SECONDS) - began

    def until_moving(self, worker: str) -> None:
        """Wait until the tasks of a worker are no longer said to be as they are at this moment.

        Raises:
            TimeoutError: They are, for longer than the patience.
        """

        def count() -> int:
            return sum(each["state"] == "RUNNING" and each["worker_id"] == worker for each in self.tasks())

        before = count()
        wait(lambda: count() < before, self.patience, f"the tasks of {worker} did not move", LOOK_SECONDS)

    def until_spread(self, workers: int) -> float:
        """Wait until every task runs, on so many workers evenly; returns the seconds that took."""
        began = time.monotonic()

        def spread() -> bool:
            on = [each["worker_id"] for each in self.tasks() if each["state"] == "RUNNING"]
            counts = sorted(on.count(worker) for worker in set(on))
            return (
                len(on) == TASKS * len(self.names) and len(counts) == workers and counts[-1] - counts[0] < 2
            )

        return wait(spread, self.patience, "the tasks are not spread", LOOK_SECONDS) - began

    def tasks(self) -> list[dict[str, Any]]:
        """Return what REST says of every task; a failed one ends the measurement.

        Raises:
            RuntimeError: One failed.
        """
        reply = self._http.get("/connectors?expand=status")
        if not reply.is_success:
            return []
        tasks = [task for each in reply.json().values() for task in each["status"]["tasks"]]
        failed = [task for task in tasks if task["state"] == "FAILED"]
        if failed:
            raise RuntimeError(f"{len(failed)} tasks failed: {failed[0].get('trace', '')[:400]}")
        return tasks

    def latencies(self) -> dict[str, Latency]:
        """Ask one after the other, and return how long answers took, by what was asked."""
        known = sorted(self.names)
        return {
            "GET /connectors": _latency(READS, lambda _: self.ask("GET", "/connectors")),
            "GET status": _latency(
                READS, lambda n: self.ask("GET", f"/connectors/{known[n * 7 % len(known)]}/status")
            ),
            "PUT config": _latency(WRITES, lambda n: self.put(known[n * 7 % len(known)], f"change-{n}")),
        }


def config(change: str = "") -> dict[str, str]:
    """Return the configuration of a source whose tasks run and make no records."""
    string = "org.apache.kafka.connect.storage.StringConverter"
    return {
        "connector.class": "DatagenSource",
        "tasks.max": str(TASKS),
        "streams": str(TASKS),
        "topic": TOPIC,
        "fields": '[{"name": "id", "type": "sequence"}]',
        "throughput": "0",
        "key.converter": string,
        "value.converter": string,
        "change": change,
    }


def name_of(number: int) -> str:
    """Return the name of a connector."""
    return f"load-{number:05d}"


def _latency(count: int, ask: Callable[[int], object]) -> Latency:
    seconds = []
    for number in range(count):
        began = time.perf_counter()
        ask(number)
        seconds.append(1000 * (time.perf_counter() - began))
    return Latency(statistics.median(seconds), statistics.quantiles(seconds, n=100)[98])
