"""The step of SparkSql: records to Arrow, through Spark, and back."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TypeVar

import pyarrow as pa
from copycat_connect.cluster import Config
from copycat_connect.config import ConfigValue
from copycat_connect.config.parsing import invalid_value
from copycat_connect.data import ConnectRecord, ConnectValue, Schema, SchemaBuilder, SchemaType, Struct
from copycat_connect.data.logical import DATE, DECIMAL, TIME, TIMESTAMP, decimal_scale, timestamp_to_millis
from copycat_connect.errors import ConfigError, DataError
from copycat_connect.plugin import QueryEngine, Transformation, TransformationContext

from copycat_plugins.transforms.schema_ddl import DdlError, parse_ddl
from copycat_plugins.transforms.spark_sql import SQL, SparkSqlSettings
from copycat_plugins.transforms.typed import Fit, fit_to

R = TypeVar("R", bound=ConnectRecord)
#: What goes through Spark at once: a batch costs some 100 ms, whatever is in it, and memory on its way.
MAX_RECORDS_AT_ONCE = 5000
MAX_BYTES_AT_ONCE = 4 * 1024 * 1024
_HEADERS = pa.list_(pa.struct([("key", pa.string()), ("value", pa.string())]))
_NOT_NULL = re.compile(r"(?<!\s)\s++NOT\s++NULL\b", re.IGNORECASE)
_MILLIS = pa.timestamp("ms", tz="UTC")
_VALUE, _KEY, _TOPIC, _MOMENT = "value", "key", "topic", "timestamp"
_PARTS = (_KEY, _TOPIC, _MOMENT)
_MAX_DECIMAL_DIGITS = 38
_SCALARS: Mapping[SchemaType, Callable[[], pa.DataType]] = {
    SchemaType.INT8: pa.int8,
    SchemaType.INT16: pa.int16,
    SchemaType.INT32: pa.int32,
    SchemaType.INT64: pa.int64,
    SchemaType.FLOAT32: pa.float32,
    SchemaType.FLOAT64: pa.float64,
    SchemaType.BOOLEAN: pa.bool_,
    SchemaType.STRING: pa.string,
    SchemaType.BYTES: pa.binary,
}
_LOGICAL: Mapping[str, Callable[[Schema], pa.DataType]] = {
    DATE: lambda _: pa.date32(),
    TIME: lambda _: pa.time64("us"),
    TIMESTAMP: lambda _: pa.timestamp("us", tz="UTC"),
    DECIMAL: lambda schema: pa.decimal128(_MAX_DECIMAL_DIGITS, decimal_scale(schema)),
}


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


def arrow_type(schema: Schema | None) -> pa.DataType:
    """Return the Arrow type of a schema's values."""
    assert schema is not None  # schemas of members are there
    logical = _LOGICAL.get(schema.name or "")
    if logical is not None:
        return logical(schema)
    match schema.type:
        case SchemaType.STRUCT:
            return pa.struct([(field.name, arrow_type(field.schema)) for field in schema.fields])
        case SchemaType.ARRAY:
            return pa.list_(arrow_type(schema.value))
        case SchemaType.MAP:
            return pa.map_(arrow_type(schema.key), arrow_type(schema.value))
        case scalar:
            return _SCALARS[scalar]()


def arrow_column(name: str, kind: pa.DataType, values: Sequence[ConnectValue]) -> pa.Array:
    """Return values as a column; structs count as maps, members a value does not have are null.

    Raises:
        DataError: A value is of another type.
    """
    try:
        plain = [_plain(value) for value in values]
        if "map<" in str(kind):
            for value in plain:
                _refuse_lists_as_maps(kind, value)
        return pa.array(plain, kind)
    except (pa.ArrowException, TypeError, ValueError, OverflowError, RecursionError) as error:
        raise DataError(f"The {name} does not fit {name}.schema: {error}") from error


class QueryResult:
    """Reads the rows of one query."""

    def __init__(self, key: str, ddl: str) -> None:
        """Use the columns of the rows; `key` is the configuration key of the query.

        Raises:
            ConfigError: They make no records.
        """
        try:
            columns = {field.name: field.schema for field in parse_ddl(ddl).fields}
        except DdlError as error:
            reason = f"Cast each column to a type of Connect's: {error.message}"
            raise invalid_value(key, ddl, reason) from error
        problem = _problem(columns)
        if problem is not None:
            raise invalid_value(key, ddl, problem)
        self._parts = [name for name in _PARTS if name in columns]
        self._fields = [name for name in columns if name not in _PARTS]
        self._whole = self._fields == [_VALUE]
        self._key = columns.get(_KEY)
        self._fit_key: Fit | None = None if self._key is None else fit_to(self._key, _KEY)
        self._schema: Schema | None = None
        self._fit: Fit | None = None
        if self._fields:
            self._schema = columns[_VALUE] if self._whole else _struct(columns, self._fields)
            self._fit = fit_to(self._schema)

    def read(self, records: Sequence[R], rows: pa.Table) -> list[R | None]:
        """Return what follows each record; the last column of a row is its record's place.

        Raises:
            DataError: A row makes no record.
        """
        results: list[R | None] = [None] * len(records)
        for row in rows.to_pylist():
            *_, place = row.values()
            results[place] = self._record(records[place], row)
        return results

    def _record(self, record: R, row: dict[str, ConnectValue]) -> R:
        changed = record.replace()
        if self._fit is not None:
            value = row[_VALUE] if self._whole else {name: row[name] for name in self._fields}
            changed.value_schema, changed.value = self._schema, self._fit(value)
        if self._fit_key is not None:
            changed.key_schema, changed.key = self._key, self._fit_key(row[_KEY])
        if _TOPIC in self._parts:
            changed.topic = _topic(row[_TOPIC])
        if _MOMENT in self._parts:
            moment: datetime | None = row[_MOMENT]
            changed.timestamp = None if moment is None else timestamp_to_millis(moment)
        return changed


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


def _plain(value: ConnectValue) -> ConnectValue:
    if isinstance(value, Struct):
        return {field.name: _plain(value.get(field)) for field in value.schema.fields}
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def _refuse_lists_as_maps(kind: pa.DataType, value: ConnectValue) -> None:
    """Raise TypeError for a list where a map is wanted: Arrow ends the process when it holds a null."""
    if isinstance(value, list) and pa.types.is_map(kind):
        raise TypeError("a list stands where a map is wanted")
    for part_kind, part in _parts(kind, value):
        _refuse_lists_as_maps(part_kind, part)


def _parts(kind: pa.DataType, value: ConnectValue) -> Iterator[tuple[pa.DataType, ConnectValue]]:
    if isinstance(value, list):
        return ((kind.value_type, item) for item in value if pa.types.is_list(kind))
    if not isinstance(value, dict):
        return iter(())
    if pa.types.is_map(kind):
        return ((kind.item_type, item) for item in value.values())
    return ((field.type, value.get(field.name)) for field in (kind if pa.types.is_struct(kind) else ()))


def _problem(columns: dict[str, Schema]) -> str | None:
    others = [name for name in columns if name not in (_VALUE, *_PARTS)]
    if _VALUE in columns and others:
        return f"A column named value is the whole value: rename it, or leave out {', '.join(others)}"
    if _TOPIC in columns and columns[_TOPIC].type is not SchemaType.STRING:
        return "The column topic names the record's topic and is a STRING: cast or rename it"
    if _MOMENT in columns and columns[_MOMENT].name != TIMESTAMP:
        return "The column timestamp is the record's and is a TIMESTAMP: cast or rename it"
    return None


def _struct(columns: dict[str, Schema], names: list[str]) -> Schema:
    builder = SchemaBuilder.struct()
    for name in names:
        builder.field(name, columns[name])
    return builder.build()


def _topic(value: ConnectValue) -> str:
    if not value:
        raise DataError("The query's topic is null or empty for a record: give one, or drop it with WHERE")
    topic: str = value
    return topic
