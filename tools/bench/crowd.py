"""How fast REST answers with two hundred connectors defined while connectors come, restart and go."""

from __future__ import annotations

import itertools
import statistics
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import httpx2
from copycat_testkit.eventually import wait

from tools.bench.record_paths import file_sink, file_source
from tools.bench.rest import Rest

CONNECTORS = 200
SECONDS = 15.0
READ_PAUSE = 0.005
WRITE_PAUSE = 0.05
SETTLE_SECONDS = 300.0
ACCEPTED = {200, 201, 202, 204}
#: What a worker says during a rebalance, or when it could not answer in time; repeated and counted apart.
REFUSED = {409, 500, 503}
_runs = itertools.count()
Call = tuple[str, str, dict[str, object] | None]


@dataclass
class Answers:
    """What one caller was answered."""

    seconds: list[float] = field(default_factory=list)
    """Of each call that was accepted."""
    refused: int = 0
    """Calls that were not, each repeated."""
    failure: str = ""
    """What must not happen."""

    def quantile(self, percent: int) -> float:
        """Return a percentile in milliseconds."""
        return statistics.quantiles(self.seconds, n=100)[percent - 1] * 1000


def gather_crowd(url: str, folder: Path, topic: str) -> float:
    """Define the connectors, half of them waiting sources, half paused sinks; returns the seconds it took."""
    rest, quiet, began = Rest(url), folder / "quiet.txt", time.monotonic()
    quiet.write_text("one line\n")
    for number in range(CONNECTORS):
        sink = file_sink(folder / f"{number}.out", topic)
        rest.create(_name(number), sink if number % 2 else file_source(quiet, topic))
    wait(lambda: _running(url) == CONNECTORS, SETTLE_SECONDS, "not all connectors run", 0.5)
    for number in range(1, CONNECTORS, 2):
        rest.pause(_name(number))
    wait(lambda: _running(url) == CONNECTORS // 2, SETTLE_SECONDS, "not all sinks paused", 0.5)
    return time.monotonic() - began


def answer_times(url: str, folder: Path, topic: str) -> tuple[Answers, Answers]:
    """Read and write side by side for a while; returns what the reader and the writer were answered."""
    reads, writes = Answers(), Answers()
    until = time.monotonic() + SECONDS
    source = file_source(folder / "quiet.txt", topic)
    callers = [
        threading.Thread(target=_call, args=(url, _reads(), reads, READ_PAUSE, until)),
        threading.Thread(target=_call, args=(url, _writes(source), writes, WRITE_PAUSE, until)),
    ]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    for answers in (reads, writes):
        if answers.failure:
            raise RuntimeError(answers.failure)
    return reads, writes


def _reads() -> Iterator[tuple[Call, ...]]:
    for number in itertools.cycle(range(0, CONNECTORS, 7)):
        one = f"/connectors/{_name(number)}"
        every = ("/connectors", "/connectors?expand=status&expand=info")
        paths = (one, f"{one}/status", f"{one}/config", f"{one}/tasks", *every)
        yield tuple(("GET", path, None) for path in paths)


def _writes(source: dict[str, str]) -> Iterator[tuple[Call, ...]]:
    """Yield rounds that leave nothing behind that was not there before."""
    for number in itertools.cycle(range(0, CONNECTORS, 2)):
        known, guest = f"/connectors/{_name(number)}", f"guest-{next(_runs)}"
        yield (
            ("POST", "/connectors", {"name": guest, "config": source}),
            ("PUT", f"{known}/config", {**source, "round": guest}),
            ("POST", f"{known}/restart?includeTasks=true", None),
            ("PUT", f"{known}/pause", None),
            ("PUT", f"{known}/resume", None),
            ("DELETE", f"/connectors/{guest}", None),
        )


def _call(url: str, rounds: Iterator[tuple[Call, ...]], answers: Answers, pause: float, until: float) -> None:
    with httpx2.Client(base_url=url, timeout=120) as client:
        while time.monotonic() < until:
            for call in next(rounds):
                if not _accepted(client, call, answers):
                    return
                time.sleep(pause)


def _accepted(client: httpx2.Client, call: Call, answers: Answers) -> bool:
    method, path, body = call
    while True:
        began = time.perf_counter()
        reply = client.request(method, path, json=body)
        if reply.status_code in ACCEPTED:
            answers.seconds.append(time.perf_counter() - began)
            return True
        if reply.status_code not in REFUSED:
            answers.failure = f"{method} {path} answered {reply.status_code}: {reply.text[:300]}"
            return False
        answers.refused += 1
        time.sleep(WRITE_PAUSE)


def _running(url: str) -> int:
    """Count the connectors all of whose tasks run."""
    reply = httpx2.get(f"{url}/connectors?expand=status", timeout=60)
    if reply.status_code != 200:
        return -1
    statuses = [each["status"] for each in reply.json().values()]
    return sum(
        bool(status["tasks"]) and all(task["state"] == "RUNNING" for task in status["tasks"])
        for status in statuses
    )


def _name(number: int) -> str:
    return f"crowd-{number:03d}"
