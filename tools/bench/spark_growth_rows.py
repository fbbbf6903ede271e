"""How much faster SparkSource is with two workers of a Spark cluster than with one, each with its own core.

Both clusters stay, each with a system and a connector that waits paused while files are added: all is warm.
Broker and drivers use the other cores of the machine; where it has but two, they take of the second worker's.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from copycat_testkit.eventually import wait

from tests.integration.plugins.spark.standalone import SparkStandalone
from tools.bench.connector_rows import FILES, write_parquet
from tools.bench.rows import RECORDS_PER_SECOND, Row, Run
from tools.bench.systems import Copycat, Rest, shipped_kafka
from tools.bench.topics import Topics

_GROWTH: Final = "parquet-to-topic-spark-workers"
SPARK_GROWTH_ROWS: Final = (_GROWTH,)
_SETTINGS: Final = (
    "SparkSource with tasks.max=2 on a standalone cluster of two workers, in place of Connect stands the "
    f"same with one; a core each, warm; {FILES} files of Parquet, 6 columns, to one partition, JsonConverter "
    "without schemas"
)
_SECONDS: Final = 300.0


def spark_growth_rows(run: Run) -> Iterator[Row]:
    """Measure a source on two workers and on one."""
    with ExitStack() as stack:
        broker = stack.enter_context(shipped_kafka(run.folder / "growth-broker"))
        sides = {
            side: _side(run, stack, Topics(broker.bootstrap), broker.bootstrap, workers)
            for side, workers in (("ours", 2), ("peer", 1))
        }
        yield run.measure(Row(_GROWTH, RECORDS_PER_SECOND, _SETTINGS), sides)


def _side(run: Run, stack: ExitStack, topics: Topics, bootstrap: str, workers: int) -> Callable[[], float]:
    """Start a cluster and a system with a connector; returns what has it read new files."""
    folder, size, written = run.folder / f"growth-{workers}", run.records // FILES, 0
    files, name = folder / "files", f"bench-workers-{workers}"
    files.mkdir(parents=True)
    cluster = stack.enter_context(SparkStandalone(folder / "cluster", workers))
    for core, pid in zip(sorted(os.sched_getaffinity(0)), cluster.worker_ids, strict=False):
        _pin(pid, core)
    properties = {"spark.drivers.master": cluster.url, "spark.driver.host": "127.0.0.1"}
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
