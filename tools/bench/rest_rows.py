"""How fast REST answers with two hundred connectors defined while connectors come, restart and go."""

from __future__ import annotations

import itertools
import statistics
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

import httpx2
from copycat_testkit.eventually import wait

from tools.bench.rows import Row, Run
from tools.bench.systems import Fleet, Rest, file_sink, file_source, fleets, shipped_kafka
from tools.bench.topics import Topics

REST_ROWS: Final = ("rest-read-p50", "rest-read-p99", "rest-write-p50", "rest-write-p99")
_CONNECTORS: Final = 200
_SETTINGS: Final = f"{_CONNECTORS} file connectors, 2 workers; some are created, changed, restarted, deleted"
_TOPIC: Final = "bench-crowd"
_SECONDS: Final = 15.0
_READ_PAUSE_SECONDS: Final = 0.005
_WRITE_PAUSE_SECONDS: Final = 0.05
_SETTLE_SECONDS: Final = 300.0
_ACCEPTED: Final = {200, 201, 202, 204}
#: What a worker answers during a rebalance, or when it could not answer in time; repeated and counted apart.
_REFUSED: Final = {409, 500, 503}
_runs = itertools.count()
_Call = tuple[str, str, dict[str, object] | None]


@dataclass
class _Answers:
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


def rest_rows(run: Run) -> Iterator[Row]:
    """Measure both clusters with the same crowd of connectors."""
    folder = run.folder / "crowd"
    rows = tuple(Row(name, "ms", _SETTINGS) for name in REST_ROWS)
    with shipped_kafka(folder / "broker") as broker, fleets(folder, broker.bootstrap, 2) as sides:
        Topics(broker.bootstrap).create(_TOPIC)
        refused: dict[Fleet, int] = {}
        for fleet in sides.values():
            refused[fleet] = 0
            spent = _gather_crowd(fleet.url, folder)
            run.progress.console.print(
                f"{type(fleet).__name__}: {_CONNECTORS} connectors defined in {spent:.1f} s"
            )
        measures = {side: partial(_answer_times, fleet, folder, refused) for side, fleet in sides.items()}
        run.measure_all(rows, measures)
    counts = " and ".join(f"{count} ({type(fleet).__name__})" for fleet, count in refused.items())
    for row in rows:
        row.settings += f"; not counted: {counts} answers of 409, 500 or 503"
    yield from rows


def _answer_times(fleet: Fleet, folder: Path, refused: dict[Fleet, int]) -> tuple[float, ...]:
    """Read and write side by side for a while; returns percentiles of the times of what was accepted."""
    reads, writes = _Answers(), _Answers()
    until = time.monotonic() + _SECONDS
    source = file_source(folder / "quiet.txt", _TOPIC)
    callers = [
        threading.Thread(target=_call, args=(fleet.url, _reads(), reads, _READ_PAUSE_SECONDS, until)),
        threading.Thread(
            target=_call, args=(fleet.url, _writes(source), writes, _WRITE_PAUSE_SECONDS, until)
        ),
    ]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    for answers in (reads, writes):
        if answers.failure:
            raise RuntimeError(answers.failure)
    refused[fleet] += reads.refused + writes.refused
    return tuple(answers.quantile(percent) for answers in (reads, writes) for percent in (50, 99))


def _gather_crowd(url: str, folder: Path) -> float:
    """Define the connectors, half of them waiting sources, half paused sinks; returns the seconds it took."""
    rest, quiet, began = Rest(url), folder / "quiet.txt", time.monotonic()
    quiet.write_text("one line\n")
    for number in range(_CONNECTORS):
        sink = file_sink(folder / f"{number}.out", _TOPIC)
        rest.create(_name(number), sink if number % 2 else file_source(quiet, _TOPIC))
    wait(lambda: _running(url) == _CONNECTORS, _SETTLE_SECONDS, "not all connectors run", 0.5)
    for number in range(1, _CONNECTORS, 2):
        rest.pause(_name(number))
    wait(lambda: _running(url) == _CONNECTORS // 2, _SETTLE_SECONDS, "not all sinks paused", 0.5)
    return time.monotonic() - began


def _reads() -> Iterator[tuple[_Call, ...]]:
    for number in itertools.cycle(range(0, _CONNECTORS, 7)):
        one = f"/connectors/{_name(number)}"
        every = ("/connectors", "/connectors?expand=status&expand=info")
        paths = (one, f"{one}/status", f"{one}/config", f"{one}/tasks", *every)
        yield tuple(("GET", path, None) for path in paths)


def _writes(source: dict[str, str]) -> Iterator[tuple[_Call, ...]]:
    """Yield rounds that leave nothing behind that was not there before."""
    for number in itertools.cycle(range(0, _CONNECTORS, 2)):
        known, guest = f"/connectors/{_name(number)}", f"guest-{next(_runs)}"
        yield (
            ("POST", "/connectors", {"name": guest, "config": source}),
            ("PUT", f"{known}/config", {**source, "round": guest}),
            ("POST", f"{known}/restart?includeTasks=true", None),
            ("PUT", f"{known}/pause", None),
            ("PUT", f"{known}/resume", None),
            ("DELETE", f"/connectors/{guest}", None),
        )


def _call(
    url: str, rounds: Iterator[tuple[_Call, ...]], answers: _Answers, pause: float, until: float
) -> None:
    with httpx2.Client(base_url=url, timeout=120) as client:
        while time.monotonic() < until:
            for call in next(rounds):
                if not _accepted(client, call, answers):
                    return
                time.sleep(pause)


def _accepted(client: httpx2.Client, call: _Call, answers: _Answers) -> bool:
    method, path, body = call
    while True:
        began = time.perf_counter()
        reply = client.request(method, path, json=body)
        if reply.status_code in _ACCEPTED:
            answers.seconds.append(time.perf_counter() - began)
            return True
        if reply.status_code not in _REFUSED:
            answers.failure = f"{method} {path} answered {reply.status_code}: {reply.text[:300]}"
            return False
        answers.refused += 1
        time.sleep(_WRITE_PAUSE_SECONDS)


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
