"""Makes the class archive of Spark's JVM, by one run of what the start of a host and of a driver needs.

`python -m copycat_executor.spark.make_archive` makes it (about a minute, for an installation or an image).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

from copycat_connect.java_runtime import ClassArchive
from copycat_connect.plugin import RowQuery
from copycat_connect.plugin.row_query import PLACE
from pyspark.sql import DataFrame, SparkSession

from copycat_executor.spark.archive import archive_file, make_options
from copycat_executor.spark.command import find_java
from copycat_executor.spark.conf import driver_conf
from copycat_executor.spark.session import Spark, start_context, start_driver
from copycat_executor.spark.state_queries import QuerySettings, StateQueries
from copycat_executor.spark.unit_jobs import UnitJobs, UnitLostError
from copycat_executor.spark.worker import idle

#: How long a JVM that writes its archive may take to end.
WRITE_TIMEOUT_SECONDS: Final = 120.0
#: What `SparkSource` reads, and how many rows of each are read here.
_FORMATS: Final = ("parquet", "orc", "csv", "json", "text")
_ROWS: Final = 20_000


def make_archive(properties: Mapping[str, str], *, with_drivers: bool = True) -> Path | None:
    """Make the class archive unless it is there; returns its file, or None when this Java can make none.

    Blocks for about a minute when it makes one, a third of it without what drivers do.

    Raises:
        NoJavaError: There is no Java.
        SparkLostError: The JVM did not come up.
    """
    java = find_java(properties)
    kind = ClassArchive.of(java)
    file = archive_file(java, properties, kind)
    if not file.is_file():
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=file.parent) as folder:
            fresh = Path(folder) / file.name
            spark = start_context(java, driver_conf(properties), make_options(kind, fresh), quiet=True)
            try:
                spark.context.parallelize([""], 1).mapPartitions(idle).collect()
                if with_drivers:
                    _read_units(spark, Path(folder) / "rows")
            finally:
                spark.stop(WRITE_TIMEOUT_SECONDS)
            if fresh.is_file():
                fresh.replace(file)  # at once: another executor may be starting
    return file if file.is_file() else None


def check_drivers() -> None:
    """Read files of all formats in a driver, and run a query with state.

    Raises:
        UnitLostError: Something that they take is missing.
    """
    spark = start_driver({})
    try:
        with tempfile.TemporaryDirectory() as folder:
            _read_units(spark, Path(folder) / "rows")
            _keep_state(spark, Path(folder) / "state")
    finally:
        spark.stop(WRITE_TIMEOUT_SECONDS)


class _Nothing:
    """Does nothing with rows (`Work`)."""

    def __call__(self, rows: Iterator[Any]) -> bytes:
        return self.report(rows)

    def report(self, rows: Iterator[Any]) -> bytes:
        for _ in rows:
            pass
        return b""


def _read_units(spark: Spark, folder: Path) -> None:
    """Read files of all formats as a driver does, with a query and without."""
    session, jobs = spark.session, UnitJobs(spark)
    columns = ("CAST(id AS STRING) AS text", "id", "CAST(id AS DOUBLE) AS number", "now() AS at")
    rows = session.range(_ROWS).selectExpr(*columns)
    for kind in _FORMATS:
        written = rows.select("text") if kind == "text" else rows
        written.write.format(kind).save(f"{folder}/{kind}")

    def begin(kind: str) -> tuple[Any, _Nothing]:
        read = session.read.format(kind).load(f"{folder}/{kind}")
        number = "_metadata.row_index" if kind == "parquet" else "monotonically_increasing_id()"
        return read.selectExpr("*", f"{number} AS {PLACE}"), _Nothing()

    for kind in _FORMATS:
        jobs.run(partial(begin, kind), None, "archive", repeatable=False)
    query = RowQuery(sql="SELECT id, upper(text) AS text FROM records WHERE number > 1")
    jobs.run(partial(begin, "parquet"), query, "archive", repeatable=False)


def _keep_state(spark: Spark, folder: Path) -> None:
    """Run a query with state as a driver does, until its first batch is done."""
    queries, done = StateQueries(spark), threading.Event()

    def tables(session: SparkSession) -> None:
        session.readStream.format("rate").load().createOrReplaceTempView("records")

    def each(rows: DataFrame, number: int) -> None:
        del number
        rows.collect()
        done.set()

    settings = QuerySettings(folder.as_uri(), slots=1, mode="update", interval_seconds=0.1)
    sql = "SELECT value % 2 AS odd, count(*) AS number FROM records GROUP BY value % 2"
    queries.start(sql, tables, settings, each, repeatable=False)
    while not done.wait(1):
        reason = queries.ended()
        if reason is not None:
            raise UnitLostError(reason)
    queries.stop()


def main() -> int:
    """Make the archive and print where it is; the exit code is 0, as Spark starts without it too."""
    parser = argparse.ArgumentParser(
        prog="python -m copycat_executor.spark.make_archive", description=__doc__
    )
    parser.add_argument(
        "--hosts",
        action="store_true",
        help="only classes of hosts, which makes it 110 MB smaller; drivers are tried, too",
    )
    hosts = parser.parse_args().hosts
    made = make_archive({}, with_drivers=not hosts)
    if hosts:
        check_drivers()
    sys.stdout.write(f"{made or 'this Java makes no archive; Spark starts without'}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
