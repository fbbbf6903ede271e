"""Spark alone, with its own way to Kafka (spark-sql-kafka): the peer of connectors whose topics Spark reads.

A process of its own with a plain session, which is asked line by line and stays warm from one to the next:

    python -m tools.bench.spark_peer BOOTSTRAP CORES JAR,...
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from copycat_embedded.jars import ensure_jars
from copycat_embedded.spark_java import spark_java_home
from pyspark.sql import DataFrame, SparkSession

_LOOPBACK: Final = "127.0.0.1"
_CONF: Final = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.bindAddress": _LOOPBACK,
    "spark.driver.host": _LOOPBACK,
    "spark.sql.session.timeZone": "UTC",
    # What queries of Copycat have.
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
}
_LOG_TAIL: Final = 2000


class SparkPeer:
    """The process; it runs from the beginning to the end of a `with` block."""

    def __init__(self, folder: Path, bootstrap: str, cores: int) -> None:
        """Start it with so many cores; its log and checkpoints lie in `folder`."""
        folder.mkdir(parents=True)
        self._log, self._folder = folder / "log", folder
        jars = ",".join(map(str, ensure_jars(("spark-kafka",))))
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", __name__, bootstrap, str(cores), jars],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env={**os.environ, "JAVA_HOME": str(spark_java_home())},
                cwd=Path(__file__).parents[2],
                text=True,
            )
        self.pid = self._process.pid

    def __enter__(self) -> SparkPeer:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def select(
        self, topic: str, begin: Mapping[int, int], end: Mapping[int, int], columns: str, sql: str
    ) -> tuple[float, list[Any]]:
        """Run a query over a range of a topic; returns the seconds, and the first column of what it gives."""
        places = {"begin": _places(topic, begin), "end": _places(topic, end)}
        reply = self._ask({"do": "select", "topic": topic, "columns": columns, "sql": sql, **places})
        return reply["seconds"], reply["values"]

    def aggregate(
        self, topic: str, columns: str, sql: str, target: str, most: int
    ) -> list[tuple[float, int]]:
        """Go on with a query with state until all that waits is read and written; its state has `at` as time.

        A batch has so many records (`most`) at most. Returns when each batch ended, and how many it read.
        """
        reply = self._ask(
            {
                "do": "aggregate",
                "topic": topic,
                "columns": columns,
                "sql": sql,
                "target": target,
                "most": most,
                "folder": str(self._folder / f"state-{target}"),
            }
        )
        return [(ended, records) for ended, records in reply["batches"]]

    def _ask(self, request: Mapping[str, object]) -> Any:  # noqa: ANN401 - JSON
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{json.dumps(request)}\n")
        self._process.stdin.flush()
        if not (line := self._process.stdout.readline()):
            raise RuntimeError(f"Spark ended: {self._log.read_text(errors='replace')[-_LOG_TAIL:]}")
        return json.loads(line)


def _places(topic: str, offsets: Mapping[int, int]) -> str:
    """Return offsets of a topic as Spark's options have them."""
    return json.dumps({topic: {str(partition): offset for partition, offset in offsets.items()}})


def main() -> None:
    """Start a session, and answer until stdin ends."""
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what Spark prints is no reply
    bootstrap, cores, jars = sys.argv[1:]
    builder = SparkSession.builder.master(f"local[{cores}]").appName("bench-peer").config("spark.jars", jars)
    for name, value in {**_CONF, "spark.sql.shuffle.partitions": cores}.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    answers: Mapping[str, Callable[..., Any]] = {"select": _select, "aggregate": _aggregate}
    kafka = {"kafka.bootstrap.servers": bootstrap}
    for line in sys.stdin:
        request = json.loads(line)
        reply = answers[request.pop("do")](session, kafka, **request)
        replies.write(f"{json.dumps(reply)}\n")
        replies.flush()
    session.stop()


def _select(
    session: SparkSession,
    kafka: Mapping[str, str],
    *,
    topic: str,
    begin: str,
    end: str,
    columns: str,
    sql: str,
) -> dict[str, Any]:
    began = time.monotonic()
    places = {"subscribe": topic, "startingOffsets": begin, "endingOffsets": end}
    read = session.read.format("kafka").options(**kafka, **places).load()
    _records(read, columns).createOrReplaceTempView("records")
    values = [row[0] for row in session.sql(sql).collect()]
    return {"seconds": time.monotonic() - began, "values": values}


def _aggregate(
    session: SparkSession,
    kafka: Mapping[str, str],
    *,
    topic: str,
    columns: str,
    sql: str,
    target: str,
    most: int,
    folder: str,
) -> dict[str, Any]:
    places = {"subscribe": topic, "startingOffsets": "earliest", "maxOffsetsPerTrigger": str(most)}
    read = session.readStream.format("kafka").options(**kafka, **places).load()
    records = _records(read, columns).selectExpr("* EXCEPT (at)", "timestamp_millis(at) AS at")
    records.withWatermark("at", "10 seconds").createOrReplaceTempView("records")
    rows = session.sql(sql).selectExpr("user AS key", "to_json(struct(*)) AS value")
    writer = rows.writeStream.format("kafka").options(**kafka, topic=target, checkpointLocation=folder)
    query = writer.outputMode("append").trigger(processingTime="100 milliseconds").start()
    query.processAllAvailable()
    batches = list(ends_of(query.recentProgress))
    query.stop()
    return {"batches": batches}


def _records(read: DataFrame, columns: str) -> DataFrame:
    """Return the values of a topic as columns."""
    return read.selectExpr(f"from_json(CAST(value AS STRING), '{columns}') AS record").select("record.*")


def ends_of(progress: Sequence[Mapping[str, Any]]) -> Iterator[tuple[float, int]]:
    """Yield when each batch that read something ended, and how many records it read."""
    for each in progress:
        if each["numInputRows"]:
            begun = datetime.fromisoformat(each["timestamp"].replace("Z", "+00:00")).timestamp()
            yield begun + each["durationMs"]["triggerExecution"] / 1000, each["numInputRows"]


if __name__ == "__main__":
    main()
