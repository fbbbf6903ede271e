"""Queries with state before they run: planned over topics without records, as their driver will plan them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from copycat_connect.errors import ConfigError
from copycat_connect.plugin.row_query import (
    INPUT_COLUMNS,
    OUTPUT_MODE,
    WATERMARK_COLUMN,
    QueryText,
    StateQuery,
)
from py4j.java_gateway import JavaObject
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import lit
from pyspark.sql.types import StructType

from copycat_executor.spark.conf import DRIVER
from copycat_executor.spark.query_plans import (
    WITH,
    check_repeatable,
    items,
    name_of,
    parse_any,
    plan_nodes,
)

#: A driver's, as far as plans depend on them.
_CONF: Final = {name: value for name, value in DRIVER.items() if name.startswith("spark.sql.")}
_NO_TIME: Final = "EVENT_TIME_IS_NOT_ON_TIMESTAMP_TYPE"
_NO_END: Final = "STREAMING_OUTPUT_MODE.UNSUPPORTED_OPERATION"
_NO_END_FIX: Final = (
    f"{OUTPUT_MODE}=append gives a row once it cannot change any more, which only a watermark says of a "
    f"group: set {WATERMARK_COLUMN} to a TIMESTAMP and GROUP BY it, or by window(it, '1 minute'); or set "
    f"{OUTPUT_MODE}=update and key.expression"
)
_APPEND: Final = "append"
_GROUPING: Final = frozenset({"Aggregate", "Distinct"})
_DAYS_OF_MONTH: Final = 31
_INTERVAL_FIX: Final = "write numbers with their units, e.g. 30 seconds, 5 minutes or 1 day 12 hours"


def check_interval(session: SparkSession, text: str) -> None:
    """Check that a text says how long something takes.

    Raises:
        ConfigError: It does not, or is negative.
    """
    intervals = _jvm(session).org.apache.spark.sql.catalyst.util.IntervalUtils
    try:
        is_negative = intervals.isNegative(intervals.fromIntervalString(text), _DAYS_OF_MONTH)
    except PySparkException as error:
        raise ConfigError(f"It is no interval; {_INTERVAL_FIX}") from error
    if is_negative:
        raise ConfigError(f"It is below zero; {_INTERVAL_FIX}")


def check_planned(
    session: SparkSession,
    text: str,
    state: StateQuery,
    *,
    kind: QueryText,
    repeatable: bool,
    tables: Collection[str] = (),
) -> None:
    """Check what a query with state is once Spark plans it: names, columns, types, and its output mode.

    What joins other tables (`tables`) is not planned: nobody knows their columns. Nothing is run.

    Raises:
        PySparkException: Spark refuses the query, or an expression of what it gives.
        ConfigError: It does not work with its output mode, its watermark, or is to be repeatable and is not.
    """
    if kind is QueryText.STATE:
        _check_query(session, text, state, repeatable=repeatable, tables=tables)
    elif kind is QueryText.WATERMARK:
        _topics_without_records(session, state)
    elif kind is QueryText.EXPRESSION and (rows := _rows_given(session, state, tables)) is not None:
        rows.selectExpr("*", f"({text}\n) AS {kind.value}")


def refusal_of(error: PySparkException) -> str | None:
    """Return what to do about a query that does not fit its output mode; None of another error of Spark."""
    return _NO_END_FIX if error.getCondition() == _NO_END and "watermark" in str(error) else None


def _check_query(
    session: SparkSession, sql: str, state: StateQuery, *, repeatable: bool, tables: Collection[str]
) -> None:
    parsed = parse_any(session, sql)
    read, known = _tables_read(parsed), [*state.columns, *tables]
    if unknown := sorted(read - set(known)):
        raise ConfigError(f"There is no table {unknown[0]}; there are {', '.join(known)}")
    if read & set(tables):
        if state.mode == _APPEND and state.watermark is None and _groups(parsed, read - set(tables)):
            raise ConfigError(_NO_END_FIX)
        return
    planned = _topics_without_records(session, state)
    plan = planned.sql(sql)._jdf.queryExecution().analyzed()
    if repeatable:
        check_repeatable(plan)
    spark = _jvm(session).org.apache.spark.sql
    modes = spark.streaming.OutputMode
    mode = modes.Append() if state.mode == _APPEND else modes.Update()
    try:
        spark.catalyst.analysis.UnsupportedOperationChecker.checkForStreaming(plan, mode)
    except PySparkException as error:
        if (refusal := refusal_of(error)) is not None:
            raise ConfigError(refusal) from error
        raise


def _rows_given(session: SparkSession, state: StateQuery, tables: Collection[str]) -> DataFrame | None:
    """Return what a query gives; None where that is not known."""
    if state.sql is None or _tables_read(parse_any(session, state.sql)) & set(tables):
        return None
    return _topics_without_records(session, state).sql(state.sql)


def _tables_read(parsed: JavaObject) -> set[str]:
    """Return the names of the tables that a query reads, other than those of its WITH."""
    nodes = list(plan_nodes(parsed))
    own = {each.alias() for node in nodes if name_of(node) == WITH for each in items(node.innerChildren())}
    read = (items(node.multipartIdentifier()) for node in nodes if name_of(node) == "UnresolvedRelation")
    return {".".join(name) for name in read} - own


def _groups(parsed: JavaObject, topics: Collection[str]) -> bool:
    """Return whether a query surely groups the records of topics."""
    grouping = (node for node in plan_nodes(parsed) if name_of(node) in _GROUPING)
    return any(_tables_read(node) & set(topics) for node in grouping)


def _topics_without_records(session: SparkSession, state: StateQuery) -> SparkSession:
    """Return a session that has the tables of topics.

    Raises:
        ConfigError: None of them has the column of the watermark, or it is no time.
    """
    planned = session.newSession()
    for name, value in _CONF.items():
        planned.conf.set(name, value)
    has_watermark = state.watermark is None
    for table, columns in state.columns.items():
        rows = _rows(planned, columns)
        if state.watermark in rows.columns:
            rows, has_watermark = _with_watermark(rows, state.watermark), True
        rows.createOrReplaceTempView(f"`{table}`")
    if not has_watermark:
        raise ConfigError(f"{INPUT_COLUMNS} has no column {state.watermark}: name one of its TIMESTAMPs")
    return planned


def _rows(session: SparkSession, columns: str) -> DataFrame:
    """Return the frame of a stream with these columns."""
    given = StructType.fromDDL(columns)
    assert isinstance(given, StructType)  # columns were checked before the queries that read them
    stream = session.readStream.format("rate").load()
    return stream.select(*(lit(None).cast(field.dataType).alias(field.name) for field in given.fields))


def _with_watermark(rows: DataFrame, column: str) -> DataFrame:
    try:
        return rows.withWatermark(column, "0 seconds")
    except PySparkException as error:
        if error.getCondition() == _NO_TIME:
            raise ConfigError(f"The column {column} is no TIMESTAMP: name a column that is one") from error
        raise


def _jvm(session: SparkSession) -> Any:  # noqa: ANN401 - py4j's
    return session._jvm
