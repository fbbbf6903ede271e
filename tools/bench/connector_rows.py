"""Rows of connectors with systems of their own: mirrors between two brokers, and Parquet files of a topic.

Beside a mirror runs MirrorMaker 2 in Apache Kafka Connect. The object sink has no peer: its rate counts. In
place of a peer ObjectSource reads the files that Spark reads for SparkSource.
"""

from __future__ import annotations

import itertools
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq
from copycat_testkit.eventually import wait

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
_STORED: Final = "bench-objects"
_FILES: Final = 20
_PARQUET_SETTINGS: Final = (
    "143-byte JSON lines in envelopes, JsonConverter with schemas, 6 columns, one partition, one task, "
    f"{_FILES} files of Parquet with snappy in a folder, default consumer; from the first file to the last"
)
_SPARK: Final = "parquet-to-topic-spark"
SPARK_ROWS: Final = (_SPARK,)
_SPARK_SETTINGS: Final = (
    "SparkSource with tasks.max=2; in place of Kafka Connect stands ObjectSource with two tasks; "
    f"{_FILES} files of Parquet, 6 columns, to one partition, JsonConverter without schemas; "
    "CPU with the start of the driver"
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
    folder, size = run.folder, run.records // _FILES
    with ExitStack() as stack:
        broker = stack.enter_context(shipped_kafka(folder / "broker-objects"))
        topics = Topics(broker.bootstrap)
        topics.create(_STORED)
        write_lines(folder / "objects.txt", size * _FILES)
        topics.fill(_STORED, folder / "objects.txt", in_envelopes)
        system = Copycat(folder / "copycat-objects", broker.bootstrap)
        stack.callback(system.stop)
        rate = partial(_parquet_rate, Rest(system.url), folder, size)
        yield run.measure(Row(_PARQUET, RECORDS_PER_SECOND, _PARQUET_SETTINGS), {"ours": rate})


def _parquet_rate(rest: Rest, parent: Path, size: int) -> float:
    """Return the rate at which the topic reaches files of a new folder, from the first one to the last.

    Raises:
        RuntimeError: The files have more or fewer records than the topic.
    """
    number = next(_runs)
    name, folder = f"bench-objects-{number}-{time.time_ns()}", parent / f"parquet-{number}"

    def files() -> list[Path]:
        return [*folder.glob(f"topics/{_STORED}/partition=0/*.parquet")]

    rest.create(
        name,
        {
            "connector.class": "ObjectSink",
            "topics": _STORED,
            "store.url": folder.as_uri(),
            "format.class": "parquet",
            "flush.size": str(size),
            "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        },
    )
    started = wait(lambda: bool(files()), 60, "no file appeared", PACE)
    first = len(files())
    ended = wait(lambda: len(files()) == _FILES, 300, "not all files appeared", PACE)
    rest.delete(name)
    found = sum(pq.read_metadata(file).num_rows for file in files())
    if found != size * _FILES:
        raise RuntimeError(f"of {size * _FILES} records the files have {found}")
    shutil.rmtree(folder)
    return (_FILES - first) * size / (ended - started)


def spark_rows(run: Run) -> Iterator[Row]:
    """Measure files that Spark reads into a topic, and ObjectSource with the same files."""
    size = run.records // _FILES
    files = run.folder / "parquet-files"
    files.mkdir()
    for number in range(_FILES):
        ids = range(number * size, (number + 1) * size)
        columns = {
            "id": ids,
            "user": [f"user-{each * 7919 % 1_000_000:06d}" for each in ids],
            "action": ["page_view"] * size,
            "path": [f"/products/{each * 7919 % 1_000_000:06d}" for each in ids],
            "agent": ["Mozilla/5.0 (X11; Linux x86_64) Gecko"] * size,
            "ms": [10_000 + each % 90_000 for each in ids],
        }
        pq.write_table(pa.table(columns), files / f"{number:02}.parquet")
    with ExitStack() as stack:
        broker = stack.enter_context(shipped_kafka(run.folder / "broker-spark"))
        system = Copycat(run.folder / "copycat-spark", broker.bootstrap)
        stack.callback(system.stop)
        moved = partial(_files_moved, system, Topics(broker.bootstrap), files, size * _FILES)
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
