"""Rows of SparkSink and SparkSource that are warm: what a record costs, and what a second worker brings.

Beside them stand ObjectSink and ObjectSource, or the same on one worker. All stay, and wait paused while
records or files are added, so that no driver begins meanwhile.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Final

from copycat_testkit.eventually import wait

from tests.integration.plugins.spark.standalone import SparkStandalone
from tools.bench.connector_rows import FILES, StoredRows, write_parquet
from tools.bench.rows import RECORDS_PER_SECOND, CpuMeter, Row, Run
from tools.bench.systems import Copycat, Rest, shipped_kafka
from tools.bench.topics import GrowingTopic, Topics, in_envelopes, line

_SINK, _SOURCE = SPARK_CPU_ROWS = ("spark-sink-cpu", "spark-source-cpu")
_UNIT: Final = "CPU us a record"
_JSON: Final = "org.apache.kafka.connect.json.JsonConverter"
_WARM: Final = "all processes but the broker, warm"
_SETTINGS: Final = {
    _SINK: (
        f"{_WARM}: SparkSink with tasks.max=2 into Delta Lake, in place of Kafka Connect stands ObjectSink "
        "with one task into Parquet; 143-byte JSON lines in envelopes, JsonConverter with schemas, 6 "
        f"columns, one partition, snappy, {FILES} versions or files"
    ),
    _SOURCE: (
        f"{_WARM}: SparkSource with tasks.max=2, in place of Kafka Connect stands ObjectSource with two "
        f"tasks; {FILES} files of Parquet, 6 columns, to one partition, JsonConverter without schemas"
    ),
}
#: Each has a topic of its own.
_OWNERS: Final = ("config", "offset", "status", "assignment")
_GROWTH: Final = "parquet-to-topic-spark-workers"
SPARK_GROWTH_ROWS: Final = (_GROWTH,)
_GROWTH_SETTINGS: Final = (
    "SparkSource with tasks.max=2 on a standalone cluster of two workers, in place of Connect stands the "
    f"same with one; a core each, warm; {FILES} files of Parquet, 6 columns, to one partition, JsonConverter "
    "without schemas"
)
_SECONDS: Final = 300.0
_LOOK_SECONDS: Final = 0.1


def spark_cpu_rows(run: Run) -> Iterator[Row]:
    """Measure a sink and a source."""
    folder = run.folder / "spark-cpu"
    with shipped_kafka(folder / "broker") as broker:
        system = Copycat(folder / "copycat", broker.bootstrap)
        try:
            for name, sides in ((_SINK, _sink_sides), (_SOURCE, _source_sides)):
                if run.wants(name):
                    measures = sides(run, system, Topics(broker.bootstrap))
                    for warm_up in measures.values():
                        warm_up()
                    yield run.measure(Row(name, _UNIT, _SETTINGS[name]), measures)
        finally:
            system.stop()


def _sink_sides(run: Run, system: Copycat, topics: Topics) -> Mapping[str, Callable[[], float]]:
    size = run.records // FILES
    source = GrowingTopic(topics, "bench-costs", lambda number: in_envelopes(line(number)), partitions=1)

    def sink(kind: str, tasks: int, more: Mapping[str, str]) -> Callable[[], float]:
        folder = run.folder / "spark-cpu" / kind
        config = {
            "connector.class": kind,
            "tasks.max": str(tasks),
            "topics": source.name,
            "store.url": folder.as_uri(),
            "value.converter": _JSON,
            "flush.size": str(size // tasks),
            **more,
        }
        rows = StoredRows(folder, kind, source.name)
        return _waiting(system, config, size * FILES, lambda: _all_of(rows(), source.count))

    spark = sink("SparkSink", 2, {"commit.interval.ms": "100"})

    def ours() -> float:
        source.grow(size * FILES)
        return spark()

    return {"ours": ours, "peer": sink("ObjectSink", 1, {"format.class": "parquet"})}


def _source_sides(run: Run, system: Copycat, topics: Topics) -> Mapping[str, Callable[[], float]]:
    size = run.records // FILES
    files, written = run.folder / "spark-cpu" / "files", 0
    files.mkdir()

    def source(kind: str, more: Mapping[str, str]) -> Callable[[], float]:
        topic = f"bench-{kind}"
        topics.create(topic)
        config = {
            "connector.class": kind,
            "tasks.max": "2",
            "topic": topic,
            "store.url": files.as_uri(),
            "object.poll.interval.ms": "200",
            "value.converter": _JSON,
            "value.converter.schemas.enable": "false",
            **more,
        }
        return _waiting(system, config, size * FILES, lambda: _all_of(topics.end(topic), written))

    spark = source("SparkSource", {"format": "parquet"})

    def ours() -> float:
        nonlocal written
        write_parquet(files, written, size)
        written += size * FILES
        return spark()

    return {"ours": ours, "peer": source("ObjectSource", {})}


def _waiting(
    system: Copycat, config: Mapping[str, str], records: int, done: Callable[[], bool]
) -> Callable[[], float]:
    """Create a connector that waits; returns what has it move so many records, and says what each cost."""
    rest, name = Rest(system.url), f"bench-{config['connector.class']}"
    rest.create(name, dict(config))
    wait(lambda: rest.running(name), _SECONDS, f"{name} does not run")
    rest.pause_and_wait(name)
    return partial(_cost, rest, name, system.pid, records, done)


def _cost(rest: Rest, name: str, pid: int, records: int, done: Callable[[], bool]) -> float:
    """Return the microseconds of CPU time that a record costs."""
    meter = CpuMeter(pid)
    rest.resume(name)
    try:
        wait(done, _SECONDS, f"{name} does not move all", _LOOK_SECONDS)
    except TimeoutError:
        rest.running(name)  # says why, if it failed
        raise
    cost = meter.moved(records, 0.0).cpu
    rest.pause_and_wait(name)
    return cost


def _all_of(moved: int, expected: int) -> bool:
    """Return whether all has been moved.

    Raises:
        RuntimeError: More than that has.
    """
    if moved > expected:
        raise RuntimeError(f"{moved} records were moved, and there are {expected}")
    return moved == expected


def spark_growth_rows(run: Run) -> Iterator[Row]:
    """Measure a source on two workers and on one.

    Broker and drivers use the other cores of the machine; where it has but two, they share its core.
    """
    with ExitStack() as stack:
        broker = stack.enter_context(shipped_kafka(run.folder / "growth-broker"))
        sides = {
            side: _on_workers(run, stack, Topics(broker.bootstrap), broker.bootstrap, workers)
            for side, workers in (("ours", 2), ("peer", 1))
        }
        yield run.measure(Row(_GROWTH, RECORDS_PER_SECOND, _GROWTH_SETTINGS), sides)


def _on_workers(
    run: Run, stack: ExitStack, topics: Topics, bootstrap: str, workers: int
) -> Callable[[], float]:
    """Start a cluster and a system with a connector; returns what has it read new files."""
    folder, size, written = run.folder / f"growth-{workers}", run.records // FILES, 0
    files, name = folder / "files", f"bench-workers-{workers}"
    files.mkdir(parents=True)
    (folder / "cluster").mkdir()
    cluster = stack.enter_context(SparkStandalone(folder / "cluster", workers))
    for core, pid in zip(sorted(os.sched_getaffinity(0)), cluster.worker_ids, strict=False):
        _pin(pid, core)
    properties = {
        "spark.drivers.master": cluster.url,
        "spark.driver.host": "127.0.0.1",
        "group.id": name,  # two clusters share the broker
        **{f"{kind}.storage.topic": f"{name}-{kind}" for kind in _OWNERS},
    }
    system = Copycat(folder / "copycat", bootstrap, properties)
    stack.callback(system.stop)
    rest = Rest(system.url)
    topics.create(name)
    config = {
        "connector.class": "SparkSource",
        "tasks.max": "2",
        "topic": name,
        "format": "parquet",
        "store.url": files.as_uri(),
        "object.poll.interval.ms": "200",
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "value.converter.schemas.enable": "false",
    }
    rest.create(name, config)
    wait(lambda: rest.running(name), _SECONDS, f"{name} does not run")
    rest.pause_and_wait(name)

    def rate() -> float:
        nonlocal written
        before = written
        write_parquet(files, before, size)
        written += size * FILES
        rest.resume(name)
        found = topics.arrival_rate(name, size * FILES, before)
        if (end := topics.end(name)) != written:
            raise RuntimeError(f"of {written} records {name} has {end}")
        rest.pause_and_wait(name)
        return found

    return rate


def _pin(pid: int, core: int) -> None:
    """Have a process, and all that it starts, run on one core."""
    for thread in Path(f"/proc/{pid}/task").iterdir():
        os.sched_setaffinity(int(thread.name), {core})
