"""Jobs of one partition that read a unit of a source, in the session of a driver of Spark."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final, Protocol

import pyarrow as pa
from copycat_connect.errors import ConfigError, ConnectError
from copycat_connect.plugin import RowQuery
from copycat_connect.plugin.row_query import PLACE, TOPIC, TOPIC_EXPRESSION
from py4j.java_gateway import JavaObject
from py4j.protocol import Py4JError
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import BinaryType, StructField, StructType
from pyspark.sql.udf import UserDefinedFunction
from pyspark.util import PythonEvalType

from copycat_executor.spark.launcher import spark_reason
from copycat_executor.spark.query_plans import check_analysed, dataset, over_rows, parse_rows_query
from copycat_executor.spark.session import Spark, TaggedJobs

_REPORT: Final = "report"
REPORT_COLUMNS: Final = StructType([StructField(_REPORT, BinaryType())])
#: What Spark says of a task whose executor has ended.
_LOST: Final = "ExecutorLostFailure"
_ALL: Final = "SELECT * FROM records"


class Work(Protocol):
    """What is made of a partition's rows: Arrow's record batches in, a report out; it travels by pickle."""

    def __call__(self, rows: Iterator[Any]) -> bytes:
        """Work in a process of Spark."""

    def report(self, rows: Iterator[Any]) -> bytes:
        """Work in this process."""


class UnitLostError(Exception):
    """A partition ended without a report: only the offsets say what it has committed."""


class UnitJobs(TaggedJobs):
    """Runs jobs from several threads, each cancelled by its tag."""

    def __init__(self, spark: Spark) -> None:
        super().__init__(spark)
        self._queries = RowQueries()

    @property
    def session(self) -> SparkSession:
        """The Spark session of this driver, in which units are made to frames."""
        return self._spark.session

    @property
    def addresses(self) -> tuple[str, str]:
        """The address on which this driver listens, and the one at which its partitions reach it."""
        return self._spark.addresses

    def run(
        self, begin: Callable[[], tuple[Any, Work]], query: RowQuery | None, tag: str, *, repeatable: bool
    ) -> bytes:
        """Read a DataFrame in one partition and return the report of the work on its rows; blocks.

        Args:
            begin: Makes the DataFrame, and what is done with its rows; without one that is done here.
            query: What is made of them first.
            tag: Cancels it.
            repeatable: Whether the query has to give the same each time.

        Raises:
            ConfigError: The query is refused.
            ConnectError: Spark refuses to read it.
            UnitLostError: The job failed or was cancelled.
        """
        with self.tagged(tag):
            try:
                read, work = begin()
                if read is None:
                    return work.report(iter(()))
                if query is not None:
                    read = self._queries.select(read, query, repeatable=repeatable)
                rows = map_arrow(read.coalesce(1), partial(_in_partition, work), REPORT_COLUMNS)
            except (PySparkException, Py4JError) as error:
                self._spark.look()
                if _LOST in str(error):  # while it looked at the columns
                    raise UnitLostError(spark_reason(error)) from error
                raise ConnectError(f"Spark cannot read it: {spark_reason(error)}") from error
            try:
                found = rows.collect()
            except (PySparkException, Py4JError, OSError) as error:
                self._spark.look()
                raise UnitLostError(spark_reason(error)) from error
        if len(found) != 1:
            raise UnitLostError(f"Spark ran {len(found)} partitions where one was asked for")
        return bytes(found[0][0])


def map_arrow(
    frame: DataFrame, function: Callable[[Iterator[Any]], Iterator[Any]], columns: StructType
) -> DataFrame:
    """Return what a function makes of the partitions of a frame: Arrow's record batches of these columns.

    `DataFrame.mapInArrow` does this and asks for pandas, which it does not use (PySpark 4.3).
    """
    mapped = UserDefinedFunction(function, columns, evalType=PythonEvalType.SQL_MAP_ARROW_ITER_UDF)
    column: Any = mapped(*[frame[f"`{name}`"] for name in frame.columns])
    rows = frame._jdf.mapInArrow(column._jc, False, None)  # noqa: SLF001
    return DataFrame(rows, frame.sparkSession)


def _in_partition(work: Work, rows: Iterator[Any]) -> Iterator[Any]:
    """Do the work in a partition; Spark may repeat it, since exactly once it asks where it begins."""
    yield report_row(work(rows))


def report_row(report: bytes) -> Any:  # noqa: ANN401 - Arrow's
    """Return the one row of a partition's report."""
    return pa.RecordBatch.from_pydict({_REPORT: pa.array([report], pa.binary())})


class RowQueries:
    """Makes queries part of what Spark reads; called by several threads."""

    def __init__(self) -> None:
        # Parsing and checking cost some hundred calls into the JVM: once is enough.
        self._parsed: dict[object, tuple[JavaObject, list[JavaObject]]] = {}
        self._checked: set[object] = set()

    def select(self, rows: DataFrame, query: RowQuery, *, repeatable: bool) -> DataFrame:
        """Return what a query makes of the rows of one partition: columns, their place, expressions.

        Raises:
            PySparkException: Spark cannot parse it.
            ConfigError: Spark refuses it, or we do: it is not a query of single rows, or is to be repeatable
                and is not.
        """
        if PLACE not in rows.columns:
            # The only partition has the number 0, so that these are the numbers of its rows.
            rows = rows.selectExpr("*", f"monotonically_increasing_id() AS {PLACE}")
        session, more = rows.sparkSession, query.expressions
        texts = (query.sql, *query.tables, *more.items())
        parsed = self._parsed.get(texts)
        if parsed is None:
            parsed = self._parsed[texts] = parse_rows_query(session, query.sql or _ALL, more, query.tables)
        try:
            found = dataset(session, over_rows(session, parsed, rows._jdf.queryExecution().analyzed()))
        except AnalysisException as error:  # it names a column that is not there, for example
            raise ConfigError(f"Spark refuses the query: {spark_reason(error)}") from error
        known = (texts, repeatable, rows.schema.json(), tuple(found.columns))
        if known not in self._checked:
            _check(found, repeatable=repeatable)
            self._checked.add(known)
        values = [f"`{name.replace('`', '``')}`" for name in found.columns if name not in {PLACE, *more}]
        return found.select(*values, PLACE, *more)


def _check(found: DataFrame, *, repeatable: bool) -> None:
    check_analysed(found._jdf.queryExecution().analyzed(), repeatable=repeatable)
    names = [name for name in found.columns if name != PLACE]
    if len(found.columns) != len(set(names)) + 1:
        raise ConfigError(f"Give each column a name of its own with AS: {', '.join(names)}")
    topic = dict(found.dtypes).get(TOPIC, "string")
    if topic != "string":
        raise ConfigError(
            f"{TOPIC_EXPRESSION.name} gives the type {topic}: make it a text, e.g. with CAST(... AS STRING)",
            key=TOPIC_EXPRESSION.name,
        )
