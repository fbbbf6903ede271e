"""What the loss of a worker costs: how long its tasks are silent, and whether anybody else notices."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Final

from confluent_kafka import Consumer, TopicPartition
from copycat_testkit.eventually import wait

from tools.bench.rows import Row, Run
from tools.bench.systems import Fleet, Rest, file_source, fleets, shipped_kafka
from tools.bench.topics import Topics

TAKEOVER_ROWS: Final = ("takeover", "takeover-gap-others")
_LOSS: Final = "SIGKILL of one of 3 workers, 6 file sources with 20 lines/s, no rebalance delay"
_CONNECTORS: Final = 6
_WRITE_SECONDS: Final = 0.05
_SETTLE_SECONDS: Final = 120.0
_RETURN_SECONDS: Final = 120.0
#: Watched before the kill, so that a gap that ends with it counts, too.
_BEFORE_SECONDS: Final = 3.0
#: The last worker: the first one serves REST.
_VICTIM: Final = -1
_NO_SETTINGS: Final[Mapping[str, str]] = {}
_runs = itertools.count()


class _Writer:
    """Appends the time to every file, twenty times a second."""

    def __init__(self, files: Sequence[Path]) -> None:
        self._files = files
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._write)

    def __enter__(self) -> _Writer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _write(self) -> None:
        while not self._done.wait(_WRITE_SECONDS):
            line = f"{time.monotonic()}\n"
            for file in self._files:
                with file.open("a") as out:
                    out.write(line)


class _Deliveries:
    """When something of each topic arrived, and when that had been written."""

    def __init__(self, bootstrap: str, topics: Sequence[str]) -> None:
        self._consumer = Consumer(
            {
                "bootstrap.servers": bootstrap,
                "group.id": f"bench-takeover-{next(_runs)}",
                "enable.auto.commit": False,
                "isolation.level": "read_committed",
                "fetch.queue.backoff.ms": 2,
                "fetch.wait.max.ms": 20,
            }
        )
        self._consumer.assign([TopicPartition(topic, 0, 0) for topic in topics])
        self.arrivals: dict[str, list[tuple[float, float]]] = {topic: [] for topic in topics}

    def collect(self, seconds: float) -> None:
        """Collect what arrives in so many seconds."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            for message in self._consumer.consume(1000, min(left, _WRITE_SECONDS)):
                value, topic = message.value(), message.topic()
                if message.error() is None and value and topic:
                    self.arrivals[topic].append((time.monotonic(), float(value)))

    def first_arrival(self, topic: str, since: float) -> float | None:
        """Return when something arrived first that was written since a moment; None when nothing has."""
        return next((at for at, written in self.arrivals[topic] if written >= since), None)

    def largest_gap(self, topic: str, since: float, until: float) -> float:
        """Return the longest time without an arrival."""
        times = [since, *(at for at, _ in self.arrivals[topic] if since < at < until), until]
        return max(later - earlier for earlier, later in itertools.pairwise(times))

    def close(self) -> None:
        """Disconnect."""
        self._consumer.close()


def takeover_rows(run: Run) -> Iterator[Row]:
    """Measure the loss of a worker of both clusters."""
    folder = run.folder / "takeover"
    rows = tuple(Row(name, "s", _LOSS) for name in TAKEOVER_ROWS)
    with shipped_kafka(folder / "broker") as broker, fleets(folder, broker.bootstrap, 3) as sides:
        run.measure_all(
            rows,
            {side: partial(takeover, fleet, broker.bootstrap, folder) for side, fleet in sides.items()},
        )
    yield from rows


def takeover(
    fleet: Fleet, bootstrap: str, folder: Path, delivery: Mapping[str, str] = _NO_SETTINGS
) -> tuple[float, float]:
    """Kill a worker; return seconds until the last of its tasks delivers, and the others' largest gap.

    `delivery` is added to the connectors' configurations; what is delivered is what is committed.
    """
    with _connectors(fleet, Topics(bootstrap), folder, delivery) as (rest, files):
        victim = fleet.workers()[_VICTIM]
        wait(lambda: victim in _places(rest, files).values(), _SETTLE_SECONDS, f"{victim} got no task")
        watched = _Deliveries(bootstrap, list(files))
        with _Writer(list(files.values())):
            wait(lambda: _all_arrive(watched), _SETTLE_SECONDS, "not every connector delivers")
            watched.collect(_BEFORE_SECONDS)
            places, killed = _places(rest, files), time.monotonic()
            fleet.kill(_VICTIM)
            lost = [name for name, worker in places.items() if worker == victim]
            wait(
                lambda: _deliver_again(watched, lost, killed), _RETURN_SECONDS, "lost tasks stay silent", 0.0
            )
            watched.collect(1.0)
        ended = time.monotonic()
        back = max(watched.first_arrival(name, killed) or ended for name in lost) - killed
        others = [name for name in files if name not in lost]
        gap = max(watched.largest_gap(name, killed - _BEFORE_SECONDS, ended - 1.0) for name in others)
        watched.close()
        fleet.revive(_VICTIM)
    return back, gap


def _all_arrive(watched: _Deliveries) -> bool:
    now = time.monotonic()
    watched.collect(0.5)
    return all(watched.first_arrival(topic, now - 5.0) for topic in watched.arrivals)


def _deliver_again(watched: _Deliveries, lost: Sequence[str], killed: float) -> bool:
    watched.collect(0.1)
    return all(watched.first_arrival(name, killed) for name in lost)


@contextmanager
def _connectors(
    fleet: Fleet, topics: Topics, folder: Path, delivery: Mapping[str, str]
) -> Iterator[tuple[Rest, Mapping[str, Path]]]:
    run = next(_runs)
    files = {
        f"takeover-{run}-{number}": folder / f"takeover-{run}-{number}.txt" for number in range(_CONNECTORS)
    }
    rest = Rest(fleet.url)
    for name, file in files.items():
        file.write_text("")
        topics.create(name)
        rest.create(name, {**file_source(file, name), **delivery})
    for name in files:
        wait(lambda name=name: rest.running(name), _SETTLE_SECONDS, f"{name} does not run")  # type: ignore[misc]
    yield rest, files
    for name in files:
        rest.delete(name)


def _places(rest: Rest, names: Mapping[str, Path]) -> dict[str, str]:
    """Return the worker of each connector's task."""
    return {name: rest.worker_of(name) for name in names}
