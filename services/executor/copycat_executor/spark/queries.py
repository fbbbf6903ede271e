"""Queries over batches of records, run by Spark: a SELECT as a DataFrame step."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
from copycat_connect.errors import ConfigError, DataError
from copycat_connect.plugin.row_query import PLACE, RECORDS, QueryText, StateQuery
from py4j.java_gateway import JavaObject
from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from copycat_executor.spark.query_plans import check_analysed, check_unread, dataset, parse
from copycat_executor.spark.state_plans import check_interval, check_planned

#: What an engine of queries needs: little memory, no look into files, one time zone.
CONF: Mapping[str, str] = {
    "spark.master": "local[1]",
    "spark.driver.memory": "256m",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.runSQLOnFiles": "false",
    "spark.sql.ansi.enabled": "true",
    "spark.driver.extraJavaOptions": "-XX:+ExitOnOutOfMemoryError -Xmn16m",
}
MOST_PREPARED = 100
MOST_BYTES = 32 * 1024 * 1024
_TEXT = 500


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A query that was checked."""

    session: SparkSession
    """Has a view of its own named `records`."""
    plan: JavaObject
    """The parsed plan."""
    columns: StructType
    """What the view has."""
    result: str
    """Schema of the rows, in DDL."""


class SparkQueries:
    """Prepares and runs queries, one at a time."""

    def __init__(self, session: SparkSession) -> None:
        self._session = session
        self._prepared: OrderedDict[tuple[str, str], _Prepared] = OrderedDict()

    def prepare(self, sql: str, columns: str) -> str:
        """Check a query over records of these columns (DDL); returns the schema of its rows in DDL.

        Raises:
            ConfigError: Spark or we refuse it.
        """
        return self._prepare(sql, columns).result

    def check(
        self,
        text: str,
        *,
        kind: QueryText,
        repeatable: bool,
        tables: Sequence[str] = (),
        state: StateQuery | None = None,
    ) -> None:
        """Check a query over rows that are not known, or an expression in one.

        Args:
            text: The query, expression, columns, and so on.
            kind: Which of them.
            repeatable: Whether it has to give the same each time.
            tables: What it may join, whose columns nobody knows.
            state: What else is known of a query with state, if that is.

        Raises:
            ConfigError: Spark or we refuse it.
        """
        try:
            if kind is QueryText.INTERVAL:
                check_interval(self._session, text)
            elif kind is not QueryText.WATERMARK:
                check_unread(self._session, text, kind=kind, repeatable=repeatable, tables=tables)
            if state is not None:
                check_planned(self._session, text, state, kind=kind, repeatable=repeatable, tables=tables)
        except (PySparkException, Py4JError) as error:
            raise ConfigError(_text(error)) from error

    def run(self, sql: str, columns: str, batch: bytes) -> bytes:
        """Run a query on records, an Arrow stream; returns rows, with the place of each one's record last.

        Raises:
            ConfigError: Spark or we refuse the query.
            DataError: It failed on these records, or gives too much.
        """
        prepared = self._prepare(sql, columns)
        table = pa.ipc.open_stream(batch).read_all()
        places = pa.array(range(table.num_rows), pa.int32())
        try:
            records = prepared.session.createDataFrame(table.append_column(PLACE, places), prepared.columns)
            records.createOrReplaceTempView(RECORDS)
            rows = dataset(prepared.session, prepared.plan).toArrow()
        except (PySparkException, Py4JError) as error:
            raise DataError(_text(error)) from error
        if rows.nbytes > MOST_BYTES:
            raise DataError(f"The rows of a batch take {rows.nbytes} bytes, more than {MOST_BYTES}")
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, rows.schema) as writer:
            writer.write_table(rows)
        return bytes(sink.getvalue())

    def _prepare(self, sql: str, columns: str) -> _Prepared:
        key = (sql, columns)
        prepared = self._prepared.get(key)
        if prepared is None:
            try:
                prepared = self._check(sql, columns)
            except (PySparkException, Py4JError) as error:
                raise ConfigError(_refusal(error)) from error
            if len(self._prepared) >= MOST_PREPARED:
                self._prepared.popitem(last=False)
            self._prepared[key] = prepared
        return prepared

    def _check(self, sql: str, columns: str) -> _Prepared:
        session = self._session.newSession()
        plan = parse(session, sql)
        records = session.createDataFrame([], f"{columns}, {PLACE} INT")
        records.createOrReplaceTempView(RECORDS)
        frame = dataset(session, plan)
        check_analysed(frame._jdf.queryExecution().analyzed())
        names = [field.name for field in frame.schema.fields]
        if len(set(names)) < len(names):
            raise ConfigError(f"Give each column a name of its own with AS: {', '.join(names[:-1])}")
        frame.toArrow()  # constants that cannot be computed are found now
        return _Prepared(session, plan, records.schema, frame._jdf.drop(PLACE).schema().toDDL())


def _refusal(error: PySparkException | Py4JError) -> str:
    """Return why Spark refuses a query over batches."""
    if isinstance(error, PySparkException) and error.getCondition() == "MISSING_GROUP_BY":
        return "Aggregates work across records, and a batch of them is no unit"
    return _text(error)


def _text(error: PySparkException | Py4JError) -> str:
    """Return what Spark says, without the plan or the query that follow."""
    text = str(error.java_exception.getMessage()) if isinstance(error, Py4JJavaError) else str(error)
    return text.strip().split("\n", 1)[0].replace(f", `{PLACE}`", "").replace(f"`{PLACE}`, ", "")[:_TEXT]
