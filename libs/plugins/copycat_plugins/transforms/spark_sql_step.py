"""The step of SparkSql: records to Arrow, through Spark, and back."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeVar

import pyarrow as pa
from copycat_connect.cluster import Config
from copycat_connect.config import ConfigValue
from copycat_connect.data import ConnectRecord
from copycat_connect.errors import ConfigError, DataError
from copycat_connect.plugin import QueryEngine, Transformation, TransformationContext

from copycat_plugins.transforms.arrow import arrow_column, arrow_type
from copycat_plugins.transforms.query_result import QueryResult
from copycat_plugins.transforms.schema_ddl import parse_ddl
from copycat_plugins.transforms.spark_sql_options import SQL, SparkSqlSettings

R = TypeVar("R", bound=ConnectRecord)
#: What goes through Spark at once: a batch costs some 100 ms, whatever is in it, and memory on its way.
MAX_RECORDS_AT_ONCE = 5000
MAX_BYTES_AT_ONCE = 4 * 1024 * 1024
_HEADERS = pa.list_(pa.struct([("key", pa.string()), ("value", pa.string())]))
_NOT_NULL = re.compile(r"(?<!\s)\s++NOT\s++NULL\b", re.IGNORECASE)
_MILLIS = pa.timestamp("ms", tz="UTC")


class SparkSqlStep(Transformation):
    """Runs the query on batches of records."""

    _engine: QueryEngine

    def initialize(self, context: TransformationContext) -> None:
        """Keep the context, through which queries reach Spark."""
        self._engine = context.queries

    def validate(self, config: Config) -> list[ConfigValue]:
        """Have Spark analyse the query."""
        try:
            self.configure(config)
        except ConfigError as error:
            return [ConfigValue(SQL, errors=[error.message])]
        return []

    def configure(self, config: Config) -> None:
        """Have Spark analyse the query, and learn the type of its rows."""
        settings = SparkSqlSettings.parse(config)
        self._sql = settings.sql
        self._types = {
            "value": arrow_type(parse_ddl(settings.value_schema)),
            "key": arrow_type(parse_ddl(settings.key_schema)),
        }
        self._columns = (
            f"value {_ddl(settings.value_schema)}, key {_ddl(settings.key_schema)}, topic STRING, "
            "timestamp TIMESTAMP, headers ARRAY<STRUCT<key: STRING, value: STRING>>"
        )
        self._result = QueryResult(SQL, self._engine.prepare(self._sql, self._columns))

    def apply(self, record: R) -> R | None:
        """Run the query on one record."""
        return self.apply_to_records([record])[0]

    def apply_to_records(self, records: Sequence[R]) -> list[R | None]:
        """Run the query on many records."""
        results: list[R | None] = []
        for start in range(0, len(records), MAX_RECORDS_AT_ONCE):
            results += self._run(records[start : start + MAX_RECORDS_AT_ONCE])
        return results

    def _run(self, records: Sequence[R]) -> list[R | None]:
        batch = self._batch(records)
        if batch.nbytes > MAX_BYTES_AT_ONCE and len(records) > 1:
            half = len(records) // 2
            return [*self._run(records[:half]), *self._run(records[half:])]
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, batch.schema) as writer:
            writer.write_batch(batch)
        answer = self._engine.run(self._sql, self._columns, bytes(sink.getvalue()))
        return self._result.read(records, pa.ipc.open_stream(answer).read_all())

    def _batch(self, records: Sequence[R]) -> pa.RecordBatch:
        columns = {
            "value": arrow_column("value", self._types["value"], [record.value for record in records]),
            "key": arrow_column("key", self._types["key"], [record.key for record in records]),
            **_other_columns(records),
        }
        return pa.RecordBatch.from_pydict(columns)


def _other_columns(records: Sequence[ConnectRecord]) -> dict[str, pa.Array]:
    stamps = [record.timestamp for record in records]
    try:
        return {
            "topic": pa.array([record.topic for record in records], pa.string()),
            "timestamp": pa.array(stamps, pa.int64()).cast(_MILLIS).cast(pa.timestamp("us", tz="UTC")),
            "headers": pa.array([_headers(record) for record in records], _HEADERS),
        }
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise DataError(f"Spark cannot take the topic, timestamp or headers: {error}") from error


def _headers(record: ConnectRecord) -> list[dict[str, str | None]]:
    if not record.has_headers:
        return []
    return [
        {"key": each.key, "value": None if each.value is None else str(each.value)} for each in record.headers
    ]


def _ddl(text: str) -> str:
    """Return a type, nulls allowed everywhere: Spark would trust a NOT NULL. A list of fields is a struct."""
    nullable = _NOT_NULL.sub("", text)
    try:
        parse_ddl(f"only {nullable}")
    except DataError:
        return f"STRUCT<{nullable}>"
    return nullable
