"""Queries with state: batches of Structured Streaming, and the folders of their states."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from copycat_connect.errors import ConfigError, ConnectError
from copycat_connect.plugin.row_query import SQL_KEY
from py4j.protocol import Py4JError
from pyspark import TaskContext
from pyspark.errors import AnalysisException, IllegalArgumentException, PySparkException
from pyspark.sql import DataFrame, SparkSession

from copycat_executor.spark.launcher import spark_reason
from copycat_executor.spark.query_plans import check_repeatable, check_state_query
from copycat_executor.spark.session import Spark, TaggedJobs
from copycat_executor.spark.state_plans import refusal_of
from copycat_executor.spark.unit_jobs import REPORT_COLUMNS, UnitLostError, Work, map_arrow, report_row

_ROCKS_DB: Final = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
#: A query needs its last two batches to go on.
_CONF: Final[Mapping[str, str]] = {
    "spark.sql.streaming.stateStore.providerClass": _ROCKS_DB,
    "spark.sql.streaming.minBatchesToRetain": "10",
    "spark.sql.streaming.stopTimeout": "10s",
    "spark.sql.streaming.metricsEnabled": "false",
    # What a part of the state gives has to stay in its partition.
    "spark.sql.adaptive.enabled": "false",
}
Each = Callable[[DataFrame, int], None]


@dataclass(frozen=True, slots=True)
class QuerySettings:
    """How Spark runs a query."""

    folder: str
    """The address of its checkpoint."""
    slots: int
    """Into how many parts its state is divided."""
    mode: str
    """Its output mode."""
    interval_seconds: float
    """Between the beginnings of two batches."""


class StateQueries(TaggedJobs):
    """Runs the query of a driver, and jobs with what its batches give."""

    def __init__(self, spark: Spark) -> None:
        super().__init__(spark)
        self._query: Any = None
        self._batches = ShortErrors(lambda rows, number: None)

    def state_folders(self, address: str) -> StateFolders:
        """Return the folders of states below an address."""
        return StateFolders(self._spark.session, address)

    def start(
        self,
        sql: str,
        tables: Callable[[SparkSession], None],
        settings: QuerySettings,
        each: Each,
        *,
        repeatable: bool,
    ) -> None:
        """Start the query, whose batches `each` gets in a thread of Spark's.

        Args:
            sql: The query.
            tables: Makes the views that it reads.
            settings: How it is run.
            each: Gets the rows of a batch and its number; the batch is done when it returns.
            repeatable: Whether it has to give the same each time.

        Raises:
            ConfigError: The query is refused, by Spark or by us.
            ConnectError: Spark cannot start it.
        """
        session = self._spark.session
        for name, value in _CONF.items():
            session.conf.set(name, value)
        session.conf.set("spark.sql.shuffle.partitions", str(settings.slots))
        try:
            check_state_query(session, sql, repeatable=repeatable)
            tables(session)
            frame = session.sql(sql)
            if repeatable:
                check_repeatable(frame._jdf.queryExecution().analyzed())
            self._batches = ShortErrors(each)
            writer = frame.writeStream.outputMode(settings.mode).foreachBatch(self._batches)
            writer = writer.option("checkpointLocation", settings.folder)
            pause = f"{settings.interval_seconds * 1000:.0f} milliseconds"
            self._query = writer.trigger(processingTime=pause).start()
        except (AnalysisException, IllegalArgumentException) as error:
            raise ConfigError(
                f"Invalid value for configuration {SQL_KEY.name}: {refusal_of(error) or spark_reason(error)}",
                key=SQL_KEY.name,
            ) from error
        except (PySparkException, Py4JError) as error:
            raise ConnectError(f"Spark cannot run the query: {spark_reason(error)}") from error

    def renew(self, read: Callable[[SparkSession], bool], tag: str) -> bool:
        """Read anew what the query reads besides topics, in jobs that the tag cancels; blocks.

        Raises:
            RetriableError: That cannot be read now.
        """
        with self.tagged(tag):
            return read(self._spark.session)

    def ended(self) -> str | None:
        """Return why the query has ended by itself; None while it runs."""
        if self._query.isActive:
            return None
        self._spark.look()
        error = self._query.exception()
        return self._batches.why or ("it ended" if error is None else spark_reason(error))

    def stop(self) -> None:
        """End the query; blocks until its batch has ended, too, or ten seconds."""
        with suppress(PySparkException, Py4JError, OSError):  # where it hangs it ends with the driver
            self._query.stop()

    def run(self, rows: DataFrame, works: Sequence[Work], tag: str) -> list[bytes]:
        """Have each part of a batch's rows worked on in its partition; returns the reports in order; blocks.

        Raises:
            ConnectError: The rows are not divided like the state.
            UnitLostError: The job failed or was cancelled.
        """
        with self.tagged(tag):
            try:
                parts = rows.rdd.getNumPartitions()
                if parts != len(works):
                    raise ConnectError(
                        f"The query gives its rows in {parts} parts, and state.partitions is {len(works)}: a "
                        "state keeps its first number; and a query without GROUP BY, DISTINCT or a join of "
                        "topics has no state: leave state.url out"
                    )
                found = map_arrow(rows, _InSlots(tuple(works)), REPORT_COLUMNS).collect()
            except (PySparkException, Py4JError, OSError) as error:
                self._spark.look()
                raise UnitLostError(spark_reason(error)) from error
        return [bytes(each[0]) for each in found]


class ShortErrors:
    """Has Spark hear in a line why a batch failed.

    It searches the whole text with a regular expression whose recursion overflows the stack on the trace of
    an error of Java, and prints a thousand lines of that (Spark 4.3, `StreamExecution`).
    """

    def __init__(self, each: Each) -> None:
        self._each = each
        self.why: str | None = None
        """Why the last batch failed, if it did."""

    def __call__(self, rows: DataFrame, number: int) -> None:
        """Do what is to be done with a batch.

        Raises:
            UnitLostError: It failed.
        """
        try:
            self._each(rows, number)
        except Exception as error:
            self.why = spark_reason(error)
        else:
            return
        raise UnitLostError(self.why)  # out there, where it has no context


@dataclass(frozen=True, slots=True)
class _InSlots:
    """Does in each partition the work of its part of the state."""

    works: tuple[Work, ...]

    def __call__(self, rows: Iterator[Any]) -> Iterator[Any]:
        context = TaskContext.get()
        assert context is not None  # this is a process of Spark
        report = self.works[context.partitionId()](rows)
        for _ in rows:
            pass  # Spark keeps the state of a batch once all of its rows were asked for
        yield report_row(report)


class StateFolders:
    """The folders of a connector's states, seen through Hadoop: one for each epoch, written by Spark."""

    def __init__(self, session: SparkSession, address: str) -> None:
        self._jvm: Any = session._jvm
        self._configuration = session._jsc.hadoopConfiguration()  # noqa: SLF001
        self._address = address.rstrip("/")

    def folder(self, epoch: str) -> str:
        """Return the address of the folder of an epoch."""
        return f"{self._address}/{epoch}"

    def newest(self, epoch: str, log: str) -> int:
        """Return the newest batch in a log of an epoch, `offsets` or `commits`; -1 without one.

        Raises:
            ConnectError: The folder cannot be read.
        """
        names = self._names(f"{self._address}/{epoch}/{log}")
        return max((int(name) for name in names if name.isdigit()), default=-1)

    def positions(self, epoch: str, batch: int) -> dict[str, int]:
        """Return where the partitions of topics go on behind a batch, by their names.

        Raises:
            ConnectError: It cannot be read.
        """
        path = self._path(f"{self._address}/{epoch}/offsets/{batch}")
        try:
            file = path.getFileSystem(self._configuration).open(path)
            try:
                text = bytes(file.readAllBytes()).decode()
            finally:
                file.close()
        except Py4JError as error:
            raise ConnectError(f"Cannot read the state's {path}: {spark_reason(error)}") from error
        found: dict[str, int] = {}
        for line in text.splitlines()[2:]:  # behind the version and what Spark notes of the batch
            found |= json.loads(line)
        return found

    def keep(self, epoch: str) -> None:
        """Delete the folders of epochs but this one and the newest of the others."""
        others = sorted(name for name in self._names(self._address) if name != epoch)
        for name in others[:-1]:
            path = self._path(f"{self._address}/{name}")
            path.getFileSystem(self._configuration).delete(path, True)

    def _names(self, address: str) -> list[str]:
        path = self._path(address)
        try:
            system = path.getFileSystem(self._configuration)
            if not system.exists(path):
                return []
            return [each.getPath().getName() for each in system.listStatus(path)]
        except Py4JError as error:
            raise ConnectError(f"Cannot read the state's folder {address}: {spark_reason(error)}") from error

    def _path(self, address: str) -> Any:  # noqa: ANN401 - Hadoop's
        return self._jvm.org.apache.hadoop.fs.Path(address)
