"""Rows of SparkQuery beside the same SQL in Spark alone, which has its own way to Kafka (spark-sql-kafka).

Both read the same records of one topic with two partitions, on the same two cores, in processes that stay:
the connector waits, paused, while records are appended, so that neither side begins cold. Both have to give
the same.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import orjson
from confluent_kafka import Consumer, TopicPartition
from copycat_testkit.eventually import wait

from tools.bench.rows import RECORDS_PER_SECOND, CpuMeter, Moved, Row, Run
from tools.bench.spark_peer import SparkPeer
from tools.bench.systems import Copycat, Rest, on_cores, shipped_kafka
from tools.bench.topics import CORES, GrowingTopic, Topics, line

_SELECT, _AGGREGATE = SPARK_QUERY_ROWS = ("topic-to-dataframe-spark", "windowed-aggregate-spark")
_JSON: Final = "org.apache.kafka.connect.json.JsonConverter"
_STRING: Final = "org.apache.kafka.connect.storage.StringConverter"
#: What is new in a partition is read in so many batches.
_BATCHES: Final = 5
_BESIDE: Final = (
    f"JSON lines of some 140 bytes, JsonConverter without schemas, two partitions, {CORES} cores, warm; "
    f"SparkQuery with tasks.max={CORES}, in place of Kafka Connect stands plain PySpark with spark-sql-kafka "
    "and from_json"
)
_SELECT_SETTINGS: Final = (
    f"{_BESIDE} in one batch; 6 columns, all used, of 100,000 rows one is given; from the first to the last "
    f"commit of a fifth of what a partition has, of the peer the whole job"
)
_COLUMNS: Final = "id BIGINT, user STRING, action STRING, path STRING, agent STRING, ms INT"
#: Every column is needed to know which rows it gives.
_FEW: Final = "SELECT id FROM records WHERE pmod(xxhash64(id, user, action, path, agent, ms), 100000) = 0"
_KEYS: Final = 10_000
#: Of the times of events: a window has twenty records of each key.
_WINDOW_MILLIS: Final = 10_000
_RECORDS_PER_MILLI: Final = 20
_PER_WINDOW: Final = _WINDOW_MILLIS * _RECORDS_PER_MILLI
_FIRST_MILLIS: Final = 1_767_225_600_000
_SUMS: Final = (
    "SELECT unix_millis(window.start) AS start, user, count(*) AS n, sum(ms) AS total "
    "FROM records GROUP BY window(at, '10 seconds'), user"
)
_AGGREGATE_SETTINGS: Final = (
    f"{_BESIDE}, its Kafka sink and a checkpoint in a folder; count and sum of {_KEYS:,} keys in windows of "
    f"{_PER_WINDOW:,} records, output.mode=append, watermark.delay of a window, two partitions of state in "
    f"RocksDB, a fifth of what waits in a batch; at least once; from the end of the first "
    "batch to that of the last"
)
#: Where Copycat has source offsets, unless it is set otherwise.
_OFFSETS: Final = "connect-offsets"
_SECONDS: Final = 300.0


def spark_query_rows(run: Run) -> Iterator[Row]:
    """Measure queries without and with state."""
    if run.wants(_SELECT):
        with _sides(run, "select") as sides:
            yield run.measure(
                Row(_SELECT, RECORDS_PER_SECOND, _SELECT_SETTINGS),
                {"ours": sides.select, "peer": sides.select_by_peer},
            )
    if run.wants(_AGGREGATE):
        with _sides(run, "aggregate") as sides:
            yield run.measure(
                Row(_AGGREGATE, RECORDS_PER_SECOND, _AGGREGATE_SETTINGS),
                {"ours": sides.aggregate, "peer": sides.aggregate_by_peer},
            )


@contextmanager
def _sides(run: Run, name: str) -> Iterator[_Sides]:
    """Run a broker, Copycat and Spark alone, the latter two on the same cores."""
    folder = run.folder / f"spark-{name}"
    with shipped_kafka(folder / "broker") as broker, on_cores(CORES):
        system = Copycat(folder / "copycat", broker.bootstrap)
        try:
            with SparkPeer(folder / "peer", broker.bootstrap, CORES) as peer:
                yield _Sides(run, name, broker.bootstrap, system, peer)
        finally:
            system.stop()


class _Sides:
    """Both sides of a row; ours comes first, and appends what both then read."""

    def __init__(self, run: Run, name: str, bootstrap: str, system: Copycat, peer: SparkPeer) -> None:
        self._topics, self._rest = Topics(bootstrap), Rest(system.url)
        self._commits = _Commits(bootstrap, self._rest)
        self._pid, self._peer, self._state = system.pid, peer, run.folder / f"spark-{name}" / "state"
        self._at_once = run.records // CORES // _BATCHES
        self._count = self._at_once * CORES * _BATCHES
        value = line if name == "select" else timed_line
        self._input = GrowingTopic(self._topics, f"bench-{name}", value)
        self._begin = self._input.ends
        self._ours, self._theirs = (
            _Output(self._topics, f"{name}-ours"),
            _Output(self._topics, f"{name}-theirs"),
        )
        self._found: list[Any] = []

    def select(self) -> Moved:
        """Have SparkQuery filter what is new."""
        found = self._by_query({"input.columns": _COLUMNS, "sql": _FEW})
        self._found = sorted(orjson.loads(value)["id"] for value in self._ours.new())
        return found

    def select_by_peer(self) -> Moved:
        """Have Spark filter the same.

        Raises:
            RuntimeError: It gives others.
        """
        meter = CpuMeter(self._peer.pid)
        seconds, ids = self._peer.select(self._input.name, self._begin, self._input.ends, _COLUMNS, _FEW)
        if not ids or sorted(ids) != self._found:
            raise RuntimeError(f"SparkQuery gave {self._found[:5]} ..., Spark {sorted(ids)[:5]} ...")
        return meter.moved(self._count, self._count / seconds)

    def aggregate(self) -> Moved:
        """Have SparkQuery sum up what is new.

        Raises:
            RuntimeError: It gives something else than these sums.
        """
        settings = {
            "input.columns": "user STRING, ms INT, at TIMESTAMP",
            "sql": _SUMS,
            "key.expression": "user",
            "key.converter": _STRING,
            "watermark.column": "at",
            "watermark.delay": "10 seconds",
            "state.url": self._state.as_uri(),
            "state.partitions": str(CORES),
            "state.interval.ms": "100",
        }
        found = self._by_query(settings)
        _check(self._ours, self._input.count)
        return found

    def aggregate_by_peer(self) -> Moved:
        """Have Spark do the same.

        Raises:
            RuntimeError: It gives something else than these sums.
        """
        meter = CpuMeter(self._peer.pid)
        columns = "user STRING, ms INT, at BIGINT"
        most = self._at_once * CORES
        batches = self._peer.aggregate(self._input.name, columns, _SUMS, self._theirs.name, most)
        rate = sum(records for _, records in batches[1:]) / (batches[-1][0] - batches[0][0])
        if sum(records for _, records in batches) != self._count:
            raise RuntimeError(f"of {self._count} records Spark read {batches}")
        _check(self._theirs, self._input.count)
        return meter.moved(self._count, rate)

    def _by_query(self, settings: Mapping[str, str]) -> Moved:
        """Append records, and have the connector read them, which waits before and behind."""
        name = self._input.name
        if not self._input.count:
            config = {
                "connector.class": "SparkQuery",
                "tasks.max": str(CORES),
                "input.topics": name,
                "input.max.records": str(self._at_once),
                "topic": self._ours.name,
                "value.converter": _JSON,
                "value.converter.schemas.enable": "false",
                **settings,
            }
            self._rest.create(name, config)
            self._commits.wait_running(name)
            self._rest.pause_and_wait(name)
        self._begin = self._input.ends
        self._input.grow(self._count)
        meter = CpuMeter(self._pid)
        self._commits.skip()
        self._rest.resume(name)
        rate = self._commits.rate(name, self._ends(self._begin), self._ends(self._input.ends))
        found = meter.moved(self._count, rate)
        if "state.url" in settings:
            self._ours.wait_for(rows_given(self._input.count))
            # At least once, a batch that is given is given again where its end was not noted before a pause.
            wait(lambda: is_settled(self._state), _SECONDS, "the last batch does not end")
        self._rest.pause_and_wait(name)
        return found

    def _ends(self, ends: Mapping[int, int]) -> dict[str, int]:
        return {f"{self._input.name}-{partition}": offset for partition, offset in ends.items()}


@dataclass
class _Output:
    """A topic that one side writes."""

    topics: Topics
    name: str
    seen: int = 0
    """How many of its records were looked at."""

    def __post_init__(self) -> None:
        self.topics.create(self.name)

    def wait_for(self, count: int) -> None:
        """Wait until it has so many records."""
        self.topics.wait_for(self.name, count)

    def new(self) -> list[bytes]:
        """Return the values that came since the last time."""
        begin, self.seen = self.seen, self.topics.end(self.name)
        return self.topics.values(self.name, begin, self.seen)


class _Commits:
    """Watches how far connectors have come, in the topic of offsets: REST would cost what is measured."""

    def __init__(self, bootstrap: str, rest: Rest) -> None:
        self._rest = rest
        self._consumer = Consumer(
            {"bootstrap.servers": bootstrap, "group.id": "bench-commits", "log_level": 2}
        )
        places = self._consumer.list_topics(_OFFSETS, 30).topics[_OFFSETS].partitions
        self._places = [TopicPartition(_OFFSETS, number) for number in places]

    def wait_running(self, name: str) -> None:
        """Wait until a connector runs: a driver of Spark starts."""
        wait(lambda: self._rest.running(name), _SECONDS, f"{name} does not run", 0.2)

    def skip(self) -> None:
        """Look at what comes from now on."""
        for place in self._places:
            place.offset = self._consumer.get_watermark_offsets(place, timeout=10)[1]
        self._consumer.assign(self._places)

    def rate(self, name: str, begin: Mapping[str, int], end: Mapping[str, int]) -> float:
        """Return the records a second from the first commit of each partition to the last of all.

        What others read before the first of theirs does not count, though the time does.

        Raises:
            RuntimeError: The connector failed.
            TimeoutError: It does not come there.
        """
        now, first = dict(begin), dict[str, tuple[float, int]]()
        until, last = time.monotonic() + _SECONDS, 0.0
        while now != end:
            if time.monotonic() > until:
                raise TimeoutError(f"{name} is at {now}, and not at {end}")
            for message in self._consumer.consume(100, 1.0):
                for partition, offset in positions_of(name, message.key(), message.value()).items():
                    if offset > now[partition]:
                        now[partition], last = offset, message.timestamp()[1] / 1000
                        first.setdefault(partition, (last, offset))
            self._rest.running(name)
        read = sum(end[partition] - offset for partition, (_, offset) in first.items())
        return read / (last - min(at for at, _ in first.values()))


def positions_of(connector: str, key: bytes | None, value: bytes | None) -> dict[str, int]:
    """Return how far a record of the topic of offsets says that a query has come, by partition."""
    if not key or not value:
        return {}
    name, partition = orjson.loads(key)
    offset = orjson.loads(value)
    if name != connector or "slot" in partition:
        return {}
    if "topic" in partition:
        return {f"{partition['topic']}-{partition['partition']}": offset["offset"]}
    return {name: place for name, place in offset.items() if name.startswith(f"{connector}-")}


def is_settled(state: Path) -> bool:
    """Return whether Spark has noted the end of the newest batch of a query with state."""
    begun, ended = (
        max((int(file.name) for file in state.glob(f"*/*/{log}/*") if file.name.isdigit()), default=-1)
        for log in ("offsets", "commits")
    )
    return begun == ended


def timed_line(number: int) -> bytes:
    """Return a line with one of the keys, and the time of an event."""
    user, millis = number % _KEYS, 10_000 + number % 90_000
    at = _FIRST_MILLIS + number // _RECORDS_PER_MILLI
    return (
        b'{"id":%d,"user":"user-%06d","action":"page_view","path":"/products/%06d",'
        b'"agent":"Mozilla/5.0 (X11)","ms":%d,"at":%d}'
    ) % (
        100_000_000 + number,
        user,
        user,
        millis,
        at,
    )


def rows_given(records: int) -> int:
    """Return how many rows so many records give: those of the windows before the watermark."""
    watermark = (records - 1) // _RECORDS_PER_MILLI - _WINDOW_MILLIS
    return max(0, watermark // _WINDOW_MILLIS) * _KEYS


def _check(output: _Output, records: int) -> None:
    """Compare what a side gave since the last time with the sums of so many records.

    Raises:
        RuntimeError: Something is missing, repeated or wrong.
    """
    seen = output.seen
    given = sorted(
        (row["start"], row["user"], row["n"], row["total"]) for row in map(orjson.loads, output.new())
    )
    windows = range(seen // _KEYS, rows_given(records) // _KEYS)
    expected = [row for window in windows for row in sums_of(window)]
    if given != expected:
        differing = next((pair for pair in zip(given, expected, strict=False) if pair[0] != pair[1]), "none")
        raise RuntimeError(
            f"{output.name} has {len(given)} rows for {len(expected)}, the first that differ: {differing}"
        )


def sums_of(window: int) -> Iterator[tuple[int, str, int, int]]:
    """Yield the rows of a window in order."""
    each = _PER_WINDOW // _KEYS
    start = _FIRST_MILLIS + window * _WINDOW_MILLIS
    rounds = range(window * each, (window + 1) * each)
    for key in range(_KEYS):
        total = sum(10_000 + (key + _KEYS * number) % 90_000 for number in rounds)
        yield start, f"user-{key:06d}", each, total
