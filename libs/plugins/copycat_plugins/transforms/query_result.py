"""Rows of a query as records: which columns make which part."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TypeVar

import pyarrow as pa
from copycat_connect.config.parsing import invalid_value
from copycat_connect.data import ConnectRecord, ConnectValue, Schema, SchemaBuilder, SchemaType
from copycat_connect.data.logical import TIMESTAMP, timestamp_to_millis
from copycat_connect.errors import DataError

from copycat_plugins.transforms.schema_ddl import DdlError, parse_ddl
from copycat_plugins.transforms.typed import Fit, fit_to

R = TypeVar("R", bound=ConnectRecord)
VALUE, KEY, TOPIC, TIME = "value", "key", "topic", "timestamp"
_PARTS = (KEY, TOPIC, TIME)


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
        self._whole = self._fields == [VALUE]
        self._key = columns.get(KEY)
        self._fit_key: Fit | None = None if self._key is None else fit_to(self._key, KEY)
        self._schema: Schema | None = None
        self._fit: Fit | None = None
        if self._fields:
            self._schema = columns[VALUE] if self._whole else _struct(columns, self._fields)
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
            value = row[VALUE] if self._whole else {name: row[name] for name in self._fields}
            changed.value_schema, changed.value = self._schema, self._fit(value)
        if self._fit_key is not None:
            changed.key_schema, changed.key = self._key, self._fit_key(row[KEY])
        if TOPIC in self._parts:
            changed.topic = _topic(row[TOPIC])
        if TIME in self._parts:
            moment: datetime | None = row[TIME]
            changed.timestamp = None if moment is None else timestamp_to_millis(moment)
        return changed


def _problem(columns: dict[str, Schema]) -> str | None:
    others = [name for name in columns if name not in (VALUE, *_PARTS)]
    if VALUE in columns and others:
        return f"A column named value is the whole value: rename it, or leave out {', '.join(others)}"
    if TOPIC in columns and columns[TOPIC].type is not SchemaType.STRING:
        return "The column topic names the record's topic and is a STRING: cast or rename it"
    if TIME in columns and columns[TIME].name != TIMESTAMP:
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
