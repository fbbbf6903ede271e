"""Rows of what a driver of Spark costs, and how long a record is under way through it; they have no peer."""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

import orjson
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
from confluent_kafka import Consumer, Producer, TopicPartition
from copycat_testkit.eventually import wait
from copycat_testkit.processes import command_line, memory_mb, tree

from tools.bench.resting_rows import LOOK_SECONDS, SETTLE_SECONDS, cores_used
from tools.bench.rows import Row, Run
from tools.bench.systems import Copycat, Rest, shipped_kafka
from tools.bench.topics import PACE, Topics

_SOURCE, _QUERY = "source", "query"
_KINDS: Final[Mapping[str, str]] = {
    _SOURCE: "SparkSource, a file of Parquet, without SQL",
    _QUERY: "SparkQuery without state, a topic of two partitions",
}
#: What is seen of a driver, by the end of the row's name.
_UNITS: Final[Mapping[str, tuple[str, str]]] = {
    "start": ("s", "from creating the connector to its first record in the topic"),
    "memory": (
        "MB",
        f"proportional resident (PSS), all processes of the driver, {SETTLE_SECONDS:.0f} s after that",
    ),
    "idle": ("cores", f"all processes of the driver, without records, for {LOOK_SECONDS:.0f} s"),
}
SPARK_DRIVER_ROWS: Final = tuple(f"spark-{kind}-{end}" for kind in _KINDS for end in _UNITS)
_QUANTILES: Final[Mapping[str, int]] = {"p50": 50, "p99": 99}
SPARK_LATENCY_ROWS: Final = tuple(f"spark-{kind}-latency-{end}" for kind in _KINDS for end in _QUANTILES)
_DRIVER: Final = "copycat_executor.driverhost"
_JSON: Final = "org.apache.kafka.connect.json.JsonConverter"
_FILE_POLL_MILLIS: Final = 100
_SENT_PER_SECOND: Final = {_SOURCE: 4, _QUERY: 200}
_LATENCY_SETTINGS: Final = {
    _SOURCE: (
        f"{_SENT_PER_SECOND[_SOURCE]} files of Parquet a second, a row each, from the file to its record "
        f"in a topic; SparkSource without SQL, object.poll.interval.ms={_FILE_POLL_MILLIS}, default producer"
    ),
    _QUERY: (
        f"{_SENT_PER_SECOND[_QUERY]} records a second, linger.ms=0, from a topic of two partitions to "
        "another; SparkQuery without state, SELECT and WHERE, default intervals and producer"
    ),
}
#: Of the stream whose latencies are measured, the first part only warms up.
_WARM_UP_SECONDS: Final = 15.0
_STREAM_SECONDS: Final = 30.0
_SECONDS: Final = 120.0


def spark_driver_rows(run: Run) -> Iterator[Row]:
    """Measure drivers that have just started."""
    with shipped_kafka(run.folder / "spark-driver" / "broker") as broker:
        system = Copycat(run.folder / "spark-driver" / "copycat", broker.bootstrap)
        try:
            for kind, what in _KINDS.items():
                rows = [
                    Row(f"spark-{kind}-{end}", unit, f"{what}: {settings}")
                    for end, (unit, settings) in _UNITS.items()
                ]
                if run.wants(*(row.name for row in rows)):
                    streams = _Streams(run.folder / "spark-driver", broker.bootstrap, kind)
                    run.measure_all(rows, {"ours": partial(_driver_figures, system, streams)})
                    yield from rows
        finally:
            system.stop()


def spark_latency_rows(run: Run) -> Iterator[Row]:
    """Measure how long records are under way."""
    with shipped_kafka(run.folder / "spark-latency" / "broker") as broker:
        system = Copycat(run.folder / "spark-latency" / "copycat", broker.bootstrap)
        try:
            for kind, settings in _LATENCY_SETTINGS.items():
                rows = [Row(f"spark-{kind}-latency-{end}", "ms", settings) for end in _QUANTILES]
                if run.wants(*(row.name for row in rows)):
                    streams = _Streams(run.folder / "spark-latency", broker.bootstrap, kind)
                    name, rest = streams.next_name(), Rest(system.url)
                    rest.create(name, streams.config(name))
                    run.measure_all(rows, {"ours": partial(_latencies, streams, name, rest)})
                    yield from rows
                    rest.delete(name)
        finally:
            system.stop()


@dataclass
class _Streams:
    """Makes records that say when they were made, for connectors of one kind."""

    folder: Path
    bootstrap: str
    kind: str
    topics: Topics = field(init=False)
    _made: int = 0
    _connectors: int = 0

    def __post_init__(self) -> None:
        self.topics = Topics(self.bootstrap)
        self._files = self.folder / "files"
        self._files.mkdir(exist_ok=True)
        self._producer = Producer({"bootstrap.servers": self.bootstrap, "linger.ms": 0, "log_level": 2})
        self._input = "bench-streams"
        if self.kind == _QUERY:
            self.topics.create(self._input, partitions=2)

    def next_name(self) -> str:
        """Return the name of a new connector, and of the topic that it writes."""
        self._connectors += 1
        name = f"bench-{self.kind}-{self._connectors}"
        self.topics.create(name)
        return name

    def config(self, name: str) -> dict[str, str]:
        """Return the configuration of a connector."""
        own = {
            _SOURCE: {
                "connector.class": "SparkSource",
                "store.url": self._files.as_uri(),
                "format": "parquet",
                "object.poll.interval.ms": str(_FILE_POLL_MILLIS),
            },
            _QUERY: {
                "connector.class": "SparkQuery",
                "input.topics": self._input,
                "input.columns": "sent DOUBLE",
                "sql": "SELECT sent FROM records WHERE sent > 0",
            },
        }
        return {
            "tasks.max": "2",
            "topic": name,
            "value.converter": _JSON,
            "value.converter.schemas.enable": "false",
            **own[self.kind],
        }

    def make(self) -> None:
        """Make a record of now."""
        self._made += 1
        if self.kind == _SOURCE:
            hidden, file = (self._files / f"{prefix}{self._made}.parquet" for prefix in ("_", ""))
            pq.write_table(pa.table({"sent": [time.monotonic()]}), hidden)
            hidden.rename(file)
        else:
            value = orjson.dumps({"sent": time.monotonic()})
            self._producer.produce(self._input, value, partition=self._made % 2)
            self._producer.poll(0)


def _driver_figures(system: Copycat, streams: _Streams) -> Sequence[float]:
    """Return the seconds of a connector's start, and the memory and the cores of its driver."""
    name, rest = streams.next_name(), Rest(system.url)
    streams.make()
    began = time.monotonic()
    rest.create(name, streams.config(name))
    started = wait(lambda: streams.topics.end(name) > 0, _SECONDS, "no record arrived", PACE)
    [driver] = _drivers(system.pid)
    time.sleep(SETTLE_SECONDS)  # the measurement is of what is left after a time
    memory, _ = memory_mb(tree(driver.pid))
    idle = cores_used(driver.pid, LOOK_SECONDS)
    rest.delete(name)
    wait(lambda: not _drivers(system.pid), _SECONDS, "the driver stays")
    return started - began, memory, idle


def _drivers(pid: int) -> list[psutil.Process]:
    return [process for process in tree(pid) if _DRIVER in command_line(process)]


def _latencies(streams: _Streams, topic: str, rest: Rest) -> Sequence[float]:
    """Return the quantiles of the time that records are under way, in ms.

    Raises:
        RuntimeError: Some did not arrive, or more than once.
    """
    consumer = Consumer(
        {
            "bootstrap.servers": streams.bootstrap,
            "group.id": topic,
            "enable.auto.commit": False,
            "log_level": 2,
        }
    )
    consumer.assign([TopicPartition(topic, 0, streams.topics.end(topic))])
    pause, count = 1 / _SENT_PER_SECOND[streams.kind], 0
    began = time.monotonic()
    done = threading.Event()

    def make() -> None:
        nonlocal count
        while not done.wait(max(0.0, began + count * pause - time.monotonic())):
            streams.make()
            count += 1

    maker = threading.Thread(target=make)
    maker.start()
    found: list[tuple[float, float]] = []
    try:
        wait(lambda: bool(_arrived(consumer, found, 1.0)), _SECONDS, "no record arrived", 0.0)
        warm = time.monotonic() + _WARM_UP_SECONDS
        while time.monotonic() < warm + _STREAM_SECONDS:
            _arrived(consumer, found, 0.1)
        rest.running(topic)
    finally:
        done.set()
        maker.join()
    wait(lambda: not _arrived(consumer, found, 1.0) and len(found) >= count, _SECONDS, "not all arrived", 0.0)
    if len({sent for sent, _ in found}) != len(found) or len(found) != count:
        raise RuntimeError(f"{count} records were made, and {len(found)} arrived")
    consumer.close()
    times = [(arrived - sent) * 1000 for sent, arrived in found if sent >= warm]
    return [statistics.quantiles(times, n=100)[percent - 1] for percent in _QUANTILES.values()]


def _arrived(consumer: Consumer, found: list[tuple[float, float]], seconds: float) -> bool:
    """Note the next record that arrives within so many seconds, when it was made and when it came."""
    message = consumer.poll(seconds)
    if message is None or message.error() is not None:
        return False
    value: Any = orjson.loads(message.value() or b"{}")
    found.append((value["sent"], time.monotonic()))
    return True
