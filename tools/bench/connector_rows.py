"""Rows of connectors with systems of their own: mirrors between two brokers, files and tables of a topic.

Beside a mirror runs MirrorMaker 2 in Apache Kafka Connect. The object sink has no peer: its rate counts. In
place of a peer ObjectSource reads the files that Spark reads for SparkSource, and ObjectSink writes beside
SparkSink.
"""

from __future__ import annotations

import itertools
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq
from copycat_testkit.eventually import wait
from deltalake import DeltaTable

from tools.bench.rows import RECORDS_PER_SECOND, CpuMeter, Moved, Row, Run
from tools.bench.systems import Copycat, Peer, Rest, System, shipped_kafka
from tools.bench.topics import PACE, SAMPLE, Topics, in_envelopes, write_lines

_MIRRORED: Final = "lines"
_MIRROR_SETTINGS: Final = "143-byte values in one partition, no keys, ByteArrayConverter, offset syncs"
_TUNED: Final = {
    "producer.override.linger.ms": "20",
    "producer.override.batch.size": "1048576",
    "source.consumer.max.poll.records": "5000",
}
_MIRRORS: Final = {
    "mirror": (f"{_MIRROR_SETTINGS}, default clients", dict[str, str]()),
    "mirror-tuned": (f"{_MIRROR_SETTINGS}, linger.ms=20, batch.size=1048576, max.poll.records=5000", _TUNED),
}
MIRROR_ROWS: Final = (*_MIRRORS,)
_PARQUET: Final = "topic-to-parquet"
OBJECT_ROWS: Final = (_PARQUET,)
_OBJECT_SINK: Final = {"connector.class": "ObjectSink", "tasks.max": "1", "format.class": "parquet"}
_SPARK_SINK: Final = {"connector.class": "SparkSink", "tasks.max": "2", "commit.interval.ms": "100"}
_STORED: Final = "bench-objects"
#: Files of a row, or versions of a table.
FILES: Final = 20
_PARQUET_SETTINGS: Final = (
    "143-byte JSON lines in envelopes, JsonConverter with schemas, 6 columns, one partition, one task, "
    f"{FILES} files of Parquet with snappy in a folder, default consumer; from the first file to the last"
)
_SPARK: Final = "parquet-to-topic-spark"
_TABLE: Final = "topic-to-delta-spark"
SPARK_ROWS: Final = (_SPARK,)
TABLE_ROWS: Final = (_TABLE,)
_SPARK_SETTINGS: Final = (
    "SparkSource with tasks.max=2; in place of Kafka Connect stands ObjectSource with two tasks; "
    f"{FILES} files of Parquet, 6 columns, to one partition, JsonConverter without schemas; "
    "CPU with the start of the driver"
)
_TABLE_SETTINGS: Final = (
    "SparkSink with tasks.max=2 into a table of Delta Lake; in place of Kafka Connect stands ObjectSink with "
    f"one task, into Parquet; 143-byte JSON lines in envelopes, JsonConverter with schemas, 6 columns, one "
    f"partition, snappy, {FILES} versions or files, first to last; CPU with the start of a driver"
)
_runs = itertools.count()


def mirror_rows(run: Run) -> Iterator[Row]:
    """Measure mirrors of a topic, on the second of two brokers."""
    folder = run.folder
    lines = folder / "lines.txt"
    write_lines(lines, run.records)
    with ExitStack() as stack:
        source = stack.enter_context(shipped_kafka(folder / "mirror-source"))
        target = stack.enter_context(shipped_kafka(folder / "mirror-target"))
        ours = Copycat(folder / "mirror-copycat", target.bootstrap)
        stack.callback(ours.stop)
        peer = Peer(folder / "mirror-connect", target.bootstrap, jars=("mirror",))
        stack.callback(peer.stop)
        there, here = Topics(source.bootstrap), Topics(target.bootstrap)
        there.create(_MIRRORED)
        there.fill(_MIRRORED, lines)
        clusters = {
            "source.cluster.bootstrap.servers": source.bootstrap,
            "target.cluster.bootstrap.servers": target.bootstrap,
        }
        rate = partial(_mirror_rate, target=here, count=run.records, sample=there.first(_MIRRORED, SAMPLE))
        for name, (settings, more) in _MIRRORS.items():
            if run.wants(name):
                sides = {
                    "ours": partial(rate, ours, settings={**clusters, **more}),
                    "peer": partial(rate, peer, settings={**clusters, **more}),
                }
                yield run.measure(Row(name, RECORDS_PER_SECOND, settings), sides)


def _mirror_rate(
    system: System, *, target: Topics, count: int, sample: list[bytes], settings: Mapping[str, str]
) -> float:
    """Return the rate at which the topic reaches the target, from the first record there to the last.

    Raises:
        RuntimeError: The target has other records than the source.
    """
    alias, rest = f"run-{next(_runs)}-{time.time_ns()}", Rest(system.url)
    topic = f"{alias}.{_MIRRORED}"
    converters = {
        f"{each}.converter": "org.apache.kafka.connect.converters.ByteArrayConverter"
        for each in ("key", "value", "header")
    }
    config = {
        "connector.class": "org.apache.kafka.connect.mirror.MirrorSourceConnector",
        "source.cluster.alias": alias,
        "target.cluster.alias": f"target-{alias}",
        "topics": _MIRRORED,
        "tasks.max": "1",
        "replication.factor": "1",
        "offset-syncs.topic.replication.factor": "1",
        **converters,
        **settings,
    }
    target.create(topic)
    rest.create(alias, config)
    rate = target.arrival_rate(topic, count)
    rest.delete(alias)
    if target.first(topic, SAMPLE) != sample:
        raise RuntimeError(f"{topic} has other records than its source")
    target.delete(topic)
    return rate


def object_rows(run: Run) -> Iterator[Row]:
    """Measure the object sink, a topic into Parquet files of a folder."""
    with _stored_topic(run, "objects") as system:
        moved = partial(_moved_into, Rest(system.url), run, system.pid, _OBJECT_SINK)
        yield run.measure(Row(_PARQUET, RECORDS_PER_SECOND, _PARQUET_SETTINGS), {"ours": moved})


def table_rows(run: Run) -> Iterator[Row]:
    """Measure a topic that Spark writes into a table, and ObjectSink with the same topic."""
    with _stored_topic(run, "tables") as system:
        moved = partial(_moved_into, Rest(system.url), run, system.pid)
        sides = {"ours": partial(moved, _SPARK_SINK), "peer": partial(moved, _OBJECT_SINK)}
        yield run.measure(Row(_TABLE, RECORDS_PER_SECOND, _TABLE_SETTINGS), sides)


@contextmanager
def _stored_topic(run: Run, name: str) -> Iterator[Copycat]:
    """Run a system beside a broker that has a topic of envelopes."""
    with ExitStack() as stack:
        broker = stack.enter_context(shipped_kafka(run.folder / f"broker-{name}"))
        topics, lines = Topics(broker.bootstrap), run.folder / f"{name}.txt"
        topics.create(_STORED)
        write_lines(lines, run.records // FILES * FILES)
        topics.fill(_STORED, lines, in_envelopes)
        system = Copycat(run.folder / f"copycat-{name}", broker.bootstrap)
        stack.callback(system.stop)
        yield system


def _moved_into(rest: Rest, run: Run, pid: int, connector: Mapping[str, str]) -> Moved:
    """Return the rate at which the topic reaches files of a new folder, from the first ones to the last.

    Raises:
        RuntimeError: The files have more or fewer records than the topic.
    """
    number, size = next(_runs), run.records // FILES
    name, folder = f"bench-objects-{number}-{time.time_ns()}", run.folder / f"parquet-{number}"
    config = {
        **connector,
        "topics": _STORED,
        "store.url": folder.as_uri(),
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "flush.size": str(size // int(connector["tasks.max"])),
    }
    rows = StoredRows(folder, connector["connector.class"], _STORED)
    meter = CpuMeter(pid)
    rest.create(name, config)
    started = wait(lambda: rows() > 0, 60, "no file appeared", PACE)
    first = rows()
    ended = wait(lambda: rows() >= size * FILES, 300, "not all files appeared", PACE)
    found = meter.moved(size * FILES, (size * FILES - first) / (ended - started))
    rest.delete(name)
    if (count := rows()) != size * FILES:
        raise RuntimeError(f"of {size * FILES} records the files have {count}")
    shutil.rmtree(folder)
    return found


class StoredRows:
    """Counts the rows of complete files in a folder, each file once; those of a table are in its log."""

    def __init__(self, folder: Path, connector: str, topic: str) -> None:
        """Count what a connector of this class writes of a topic."""
        self._folder, self._topic = folder, topic
        self._is_table = connector == "SparkSink"
        self._counted: dict[Path, int] = {}

    def __call__(self) -> int:
        """Return how many there are now."""
        for file in self._files():
            if file not in self._counted:
                self._counted[file] = pq.read_metadata(file).num_rows
        return sum(self._counted.values())

    def _files(self) -> list[Path]:
        if not self._is_table:
            return [*self._folder.glob(f"topics/{self._topic}/partition=0/*")]
        if not DeltaTable.is_deltatable(str(self._folder)):
            return []
        return [
            self._folder / path for path in DeltaTable(self._folder).get_add_actions()["path"].to_pylist()
        ]


def write_parquet(folder: Path, first: int, size: int) -> None:
    """Write files of so many rows each, which are numbered from `first` on."""
    for start in range(first, first + size * FILES, size):
        ids = range(start, start + size)
        columns = {
            "id": ids,
            "user": [f"user-{each * 7919 % 1_000_000:06d}" for each in ids],
            "action": ["page_view"] * size,
            "path": [f"/products/{each * 7919 % 1_000_000:06d}" for each in ids],
            "agent": ["Mozilla/5.0 (X11; Linux x86_64) Gecko"] * size,
            "ms": [10_000 + each % 90_000 for each in ids],
        }
        pq.write_table(pa.table(columns), folder / f"{start:010}.parquet")


def spark_rows(run: Run) -> Iterator[Row]:
    """Measure files that Spark reads into a topic, and ObjectSource with the same files."""
    size = run.records // FILES
    files = run.folder / "parquet-files"
    files.mkdir()
    write_parquet(files, 0, size)
    with ExitStack() as stack:
        broker = stack.enter_context(shipped_kafka(run.folder / "broker-spark"))
        system = Copycat(run.folder / "copycat-spark", broker.bootstrap)
        stack.callback(system.stop)
        moved = partial(_files_moved, system, Topics(broker.bootstrap), files, size * FILES)
        sides = {
            "ours": partial(moved, {"connector.class": "SparkSource", "format": "parquet"}),
            "peer": partial(moved, {"connector.class": "ObjectSource"}),
        }
        yield run.measure(Row(_SPARK, RECORDS_PER_SECOND, _SPARK_SETTINGS), sides)


def _files_moved(
    system: System, topics: Topics, files: Path, count: int, connector: Mapping[str, str]
) -> Moved:
    """Return the rate at which a connector's records reach a new topic, from the first to the last.

    Raises:
        RuntimeError: The topic has more records than the files.
    """
    topic, rest = f"bench-spark-{next(_runs)}", Rest(system.url)
    topics.create(topic)
    meter = CpuMeter(system.pid)
    config = {
        **connector,
        "tasks.max": "2",
        "topic": topic,
        "store.url": files.as_uri(),
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "value.converter.schemas.enable": "false",
    }
    rest.create(topic, config)
    found = meter.moved(count, topics.arrival_rate(topic, count))
    rest.delete(topic)
    if (end := topics.end(topic)) != count:
        raise RuntimeError(f"of {count} records {topic} has {end}")
    topics.delete(topic)
    return found
