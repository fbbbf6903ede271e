"""SparkQuery's task: plans ranges of topics in the driver, and makes records of rows in partitions."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, cast

from copycat_connect.cluster import TopicPartition
from copycat_connect.data import SourceBatch, SourceRecord
from copycat_connect.errors import ConfigError
from copycat_connect.plugin import (
    INPUT_COLUMNS,
    WATERMARK_COLUMN,
    WATERMARK_DELAY,
    RecordRange,
    SparkSourceTask,
    SparkStream,
    SparkUnit,
    StreamBatch,
    TopicSourceContext,
)
from copycat_connect.plugin.contexts import SourceOffset
from copycat_connect.plugin.row_query import PLACE

from copycat_objects.spark.placed_rows import PlacedRows, spark_reader
from copycat_objects.spark_query.held_tables import HeldTables
from copycat_objects.spark_query.positions import OFFSET, source_partition
from copycat_objects.spark_query.record_columns import RecordRows
from copycat_objects.spark_query.settings import SparkQuerySettings

_WAIT_SECONDS: Final = 0.5


class SparkQueryTask(SparkSourceTask):
    """A unit is a range of a partition of a topic (`RecordRange`); with state what a batch gives."""

    def open(self, config: Mapping[str, str]) -> None:
        """Read the configuration."""
        self._settings = settings = SparkQuerySettings.parse(config)
        settings.check()
        self.query = replace(settings.query, tables=settings.tables)
        self._tables = HeldTables(settings.side_tables(), settings.refresh_seconds)
        self._planned: dict[TopicPartition, int] = {}
        self._next_look = 0.0
        self._columns: tuple[Any, Any] | None = None

    def plan(self) -> list[SparkUnit]:
        """Look for new records where it is time to, else wait for a moment."""
        left = self._next_look - time.monotonic()
        if left > 0:
            self.context.wait(min(left, _WAIT_SECONDS))
            return []
        self._next_look = time.monotonic() + self._settings.poll_seconds
        bounds = self._topics.bounds(self._settings.input_topics, self._planned)
        self._begin({each: low for each, (low, _) in bounds.items() if each not in self._planned})
        units = []
        for partition, (_, high) in bounds.items():
            begin = self._planned[partition]
            if high > begin:
                end = self._planned[partition] = min(high, begin + self._settings.max_records)
                units.append(_unit(RecordRange(partition, begin, end)))
        return units

    def stream(self) -> SparkStream | None:
        """Return the query with state, if there is to be one."""
        settings = self._settings
        if settings.state_url is None:
            return None
        return SparkStream(
            name=self.context.configs()["name"],
            topics=settings.input_topics,
            state_url=settings.state_url,
            slots=settings.state_partitions,
            mode=settings.output_mode,
            interval_seconds=settings.state_seconds,
            sql=settings.sql,
            tables=self._make_tables,
            rows=self._with_expressions,
            renew=self._tables.renew if settings.tables else None,
            renew_seconds=settings.refresh_seconds,
        )

    def is_done(self, unit: SparkUnit, offset: SourceOffset | None) -> bool:
        """Return whether all records of a range are committed, or all that a batch gives."""
        if isinstance(unit.content, StreamBatch):
            return unit.content.is_done(offset)
        return offset is not None and offset[OFFSET] >= unit.content.end

    def frame(self, session: Any, units: Sequence[SparkUnit]) -> tuple[Any, int]:  # noqa: ANN401 - PySpark's
        """Have Spark read a range; its records join the tables as they are held now."""
        self._tables.keep(session)
        if self._columns is None:
            self._columns = declared(session, f"{self._settings.columns['']}, {PLACE} BIGINT")
        columns, arrow = self._columns
        return self._topics.frame(session, [units[0].content], columns, RecordRows(arrow)), 1

    def batches(
        self, units: Sequence[SparkUnit], offsets: Sequence[SourceOffset | None], rows: Iterator[Any]
    ) -> Iterator[SourceBatch | Sequence[SourceRecord]]:
        """Make records of what the query gives, behind what is committed."""
        if units[0].is_mark:
            return
        is_range = isinstance(units[0].content, RecordRange)
        start = int(offsets[0][OFFSET]) if is_range and offsets[0] is not None else 0
        assert self.query is not None  # `open` has made it
        read, topic = spark_reader(may_be_whole=True), self._settings.topic
        placed = PlacedRows({"": (units[0], start)}, self.query, read, topic, _behind)
        for batch in rows:
            yield from placed.batches(batch)

    def end_of(self, unit: SparkUnit, offset: SourceOffset | None) -> SourceOffset:
        """Return the offset behind a range or a batch."""
        del offset
        if isinstance(unit.content, StreamBatch):
            return unit.content.offset()
        return {OFFSET: unit.content.end}

    def stop(self) -> None:
        """Let go of the tables that the query joins; the engine has the connections."""
        if hasattr(self, "_tables"):
            self._tables.close()

    def _make_tables(self, session: Any, begin: Mapping[TopicPartition, int]) -> None:  # noqa: ANN401 - PySpark's
        """Make the tables of the query that are topics, each with the records of these."""
        settings = self._settings
        has_watermark = settings.watermark_column is None
        for table, topics in settings.topic_tables().items():
            columns, arrow = declared(session, settings.columns_of(topics[0]) or "")
            own = {each: offset for each, offset in begin.items() if each.topic in topics}
            rows = self._topics.stream(session, own, columns, RecordRows(arrow), settings.max_records)
            if settings.watermark_column in rows.columns:
                rows, has_watermark = self._with_watermark(rows), True
            rows.createOrReplaceTempView(f"`{table}`")
        if not has_watermark:
            raise ConfigError(
                f"Invalid value for configuration {WATERMARK_COLUMN}: {INPUT_COLUMNS} has no column "
                f"{settings.watermark_column}; name one of its TIMESTAMPs",
                key=WATERMARK_COLUMN,
            )

    def _with_watermark(self, rows: Any) -> Any:  # noqa: ANN401 - PySpark's
        column, delay = self._settings.watermark_column, self._settings.watermark_delay
        try:
            return rows.withWatermark(column, delay)
        except Exception as error:
            raise ConfigError(
                f"Invalid value for configuration {WATERMARK_COLUMN} or {WATERMARK_DELAY}: expected a column "
                f"that is a TIMESTAMP, and an interval, e.g. 5 minutes: {str(error).strip().splitlines()[0]}",
                key=WATERMARK_COLUMN,
            ) from error

    def _with_expressions(self, rows: Any) -> Any:  # noqa: ANN401 - PySpark's
        """Add a place, and the columns of expressions, to what the query gives."""
        more = [f"({text}\n) AS {name}" for name, text in self._settings.query.expressions.items()]
        return rows.selectExpr("*", f"monotonically_increasing_id() AS {PLACE}", *more)

    @property
    def _topics(self) -> Any:  # noqa: ANN401 - a `TopicRows`
        return cast("TopicSourceContext", self.context).topics

    def _begin(self, new: Mapping[TopicPartition, int]) -> None:
        """Find where partitions go on, or begin."""
        places = list(new)
        committed = self.context.offsets([source_partition(each) for each in places]) if places else []
        for each, offset in zip(places, committed, strict=True):
            self._planned[each] = new[each] if offset is None else int(offset[OFFSET])


def declared(session: Any, columns: str) -> tuple[Any, Any]:  # noqa: ANN401 - PySpark's and Arrow's
    """Return columns as PySpark's schema and as Arrow's.

    Raises:
        ConfigError: Spark does not understand them.
    """
    try:
        empty = session.createDataFrame([], columns)
    except Exception as error:
        raise ConfigError(
            f"Invalid value for configuration {INPUT_COLUMNS}: expected columns as in CREATE TABLE, e.g. "
            f"id BIGINT, at TIMESTAMP: {str(error).strip().splitlines()[0]}",
            key=INPUT_COLUMNS,
        ) from error
    return empty.schema, empty.toArrow().schema


def _unit(part: RecordRange) -> SparkUnit:
    topic, number = part.partition
    return SparkUnit(
        source_partition(part.partition), f"{topic}-{number} from {part.begin} to {part.end}", part
    )


def _behind(unit: SparkUnit, records: int) -> dict[str, int]:
    """Return the offset behind so many records of a partition, or of a batch, which counts as a whole."""
    if isinstance(unit.content, StreamBatch):
        return unit.content.offset()
    return {OFFSET: records}
