"""Jobs of one partition that read a unit of a source, in the session of a driver of Spark."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final

import pyarrow as pa
from copycat_connect.errors import ConnectError
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.udf import UserDefinedFunction
from pyspark.util import PythonEvalType

from copycat_executor.spark.launcher import spark_reason
from copycat_executor.spark.session import Spark

#: What a partition makes of its rows: Arrow's record batches in, a report out; it travels to other processes.
Work = Callable[[Iterator[Any]], bytes]
_REPORT: Final = "report"


class UnitLostError(Exception):
    """A partition ended without a report: only the offsets say what it has committed."""


class UnitJobs:
    """Runs jobs from several threads, each cancelled by its tag."""

    def __init__(self, spark: Spark) -> None:
        self._spark = spark

    @property
    def session(self) -> SparkSession:
        """The Spark session of this driver, in which units are made to frames."""
        return self._spark.session

    def run(self, frame: Callable[[], Any], work: Work, tag: str) -> bytes:
        """Read a DataFrame in one partition and return the report of the work on its rows; blocks.

        Raises:
            ConnectError: Spark refuses to read it.
            UnitLostError: The job failed or was cancelled.
        """
        context = self._spark.context
        context.addJobTag(tag)
        try:
            try:
                rows = _map_arrow(frame().coalesce(1), partial(_in_partition, work))
            except (PySparkException, Py4JError) as error:
                raise ConnectError(f"Spark cannot read it: {spark_reason(error)}") from error
            try:
                found = rows.collect()
            except (PySparkException, Py4JError, OSError) as error:
                raise UnitLostError(spark_reason(error)) from error
        finally:
            context.removeJobTag(tag)
        if len(found) != 1:
            raise UnitLostError(f"Spark ran {len(found)} partitions where one was asked for")
        return bytes(found[0][0])

    def cancel(self, tag: str) -> None:
        """End the jobs of a tag, and the processes of their partitions."""
        self._spark.context.cancelJobsWithTag(tag)


def _map_arrow(frame: DataFrame, function: Callable[[Iterator[Any]], Iterator[Any]]) -> DataFrame:
    """Return what a function makes of the partitions of a frame.

    `DataFrame.mapInArrow` does this and asks for pandas, which it does not use (PySpark 4.3).
    """
    mapped = UserDefinedFunction(
        function, f"{_REPORT} binary", evalType=PythonEvalType.SQL_MAP_ARROW_ITER_UDF
    )
    column: Any = mapped(*[frame[f"`{name}`"] for name in frame.columns])
    rows = frame._jdf.mapInArrow(column._jc, False, None)  # noqa: SLF001
    return DataFrame(rows, frame.sparkSession)


def _in_partition(work: Work, rows: Iterator[Any]) -> Iterator[Any]:
    """Do the work in a partition; Spark may repeat it, since exactly once it asks where it begins."""
    yield pa.RecordBatch.from_pydict({_REPORT: pa.array([work(rows)], pa.binary())})
