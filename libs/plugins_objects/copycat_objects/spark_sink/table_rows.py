"""Rows of a table that partitions of Spark make of records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import attrgetter
from typing import Final, Protocol

import pyarrow as pa
from copycat_connect.data import ConnectValue, Schema, SchemaType, SinkBatch
from copycat_connect.errors import ConnectError, DataError

from copycat_objects.formats.arrow_types import ArrowType, arrow_type, columns_of, fields_of
from copycat_objects.formats.parquet import MISFITS, VALUE

_values = attrgetter("values")
KeptType = Callable[[pa.DataType], pa.DataType]
"""Returns the type that a format of tables has for one of Arrow."""
_NO_SCHEMA: Final = (
    "Tables need values with a schema: use a converter that gives one, such as Avro, Protobuf, or JSON with "
    "schemas.enable"
)


@dataclass(frozen=True, slots=True)
class RecordRun:
    """Some records of a batch."""

    batch: SinkBatch
    """The batch that they are out of."""
    places: Sequence[int]
    """Where they are in it."""
    values: Sequence[ConnectValue]
    """The value of each."""

    def part(self, places: Sequence[int]) -> RecordRun:
        """Return some of these, by their place here."""
        return RecordRun(
            self.batch, [self.places[place] for place in places], [self.values[place] for place in places]
        )


@dataclass(frozen=True, slots=True)
class ColumnTypes:
    """The types of a table's columns."""

    known: Mapping[str, pa.DataType]
    """Of those that it has."""
    kept: KeptType
    """What others have of their types in Arrow."""


class RowMaker(Protocol):
    """Makes rows of records."""

    takes_nulls: bool
    """Whether records without a value become rows."""

    def kinds(self, run: RecordRun) -> Sequence[object]:
        """Return for each record of a batch what has to be the same in records that `make` gets together."""

    def make(self, run: RecordRun) -> pa.RecordBatch:
        """Return rows of records of one kind, with the types that the table has, or would have.

        Raises:
            DataError: A record does not fit its schema or the table.
        """


class ValueRows:
    """Makes of each value a row (`RowMaker`)."""

    takes_nulls = False

    def __init__(self, types: ColumnTypes) -> None:
        """Fit the types of the table's columns."""
        self._types = types

    def kinds(self, run: RecordRun) -> Sequence[object]:
        """Return the schemas of the values."""
        return run.batch.value_schemas

    def make(self, run: RecordRun) -> pa.RecordBatch:
        """Return rows; see the port."""
        schema = run.batch.value_schemas[run.places[0]]
        return columns_of_schema(schema).rows(run.values, self._types)


class SchemaColumns:
    """The columns of values with one schema."""

    def __init__(self, schema: Schema) -> None:
        """Find the columns.

        Raises:
            DataError: Tables have nothing for the schema.
        """
        self._is_struct = schema.type is SchemaType.STRUCT
        if self._is_struct:
            self._fields = fields_of(schema)
        else:
            found: ArrowType = arrow_type(schema)
            self._fields = [(pa.field(VALUE, found.type, nullable=schema.optional), found)]
        if not self._fields:
            raise DataError("A table has no columns for a struct without fields")
        self._plain = pa.schema([field for field, _ in self._fields])

    def rows(self, values: Sequence[ConnectValue], types: ColumnTypes) -> pa.RecordBatch:
        """Return rows with the types that the table has, or would have.

        Raises:
            DataError: A value does not fit its schema or the table.
        """
        rows = list(map(_values, values)) if self._is_struct else [(value,) for value in values]
        try:
            arrays = columns_of(self._fields, rows)
        except MISFITS as error:
            raise DataError(f"A value does not fit its schema: {type(error).__name__} {error}") from error
        found = [
            self._fitted(field.name, array, types) for field, array in zip(self._plain, arrays, strict=True)
        ]
        return pa.RecordBatch.from_arrays(found, names=self._plain.names)

    def column(self, name: str, values: Sequence[ConnectValue], types: ColumnTypes) -> pa.Array:
        """Return values that are no structs as a column of this name.

        Raises:
            DataError: A value does not fit its schema or the table.
        """
        known = {VALUE: types.known[name]} if name in types.known else {}
        (array,) = self.rows(values, ColumnTypes(known, types.kept)).columns
        return array

    @staticmethod
    def _fitted(name: str, array: pa.Array, types: ColumnTypes) -> pa.Array:
        wanted = types.known.get(name) or table_type(array.type, name, types.kept)
        try:
            return array if array.type == wanted else array.cast(wanted)
        except pa.ArrowException as error:
            raise DataError(
                f"The field {name} is {array.type}, and does not fit the table's column, which is {wanted}: "
                f"{error}"
            ) from error


@lru_cache(maxsize=64)
def columns_of_schema(schema: Schema | None) -> SchemaColumns:
    """Return the columns of values with a schema.

    Raises:
        DataError: There is no schema, or tables have nothing for it.
    """
    if schema is None:
        raise DataError(_NO_SCHEMA)
    return SchemaColumns(schema)


def table_type(type_: pa.DataType, name: str, kept: KeptType) -> pa.DataType:
    """Return the type of a table's column for one of Arrow, all of whose parts may be null.

    `kept` returns what becomes of a type without parts that is no timestamp.

    Raises:
        DataError: Tables have nothing for it.
    """
    if pa.types.is_timestamp(type_):
        return pa.timestamp("us", tz="UTC")
    if pa.types.is_decimal256(type_):
        raise DataError(f"The field {name} has more than 38 digits, which no column of a table can have")
    if pa.types.is_struct(type_):
        return pa.struct([pa.field(part.name, table_type(part.type, name, kept)) for part in type_])
    if pa.types.is_list(type_):
        return pa.list_(pa.field("element", table_type(type_.value_type, name, kept)))
    if pa.types.is_map(type_):
        return pa.map_(table_type(type_.key_type, name, kept), table_type(type_.item_type, name, kept))
    return kept(type_)


def merged(schemas: Iterable[pa.Schema]) -> pa.Schema:
    """Return all columns of files.

    Raises:
        ConnectError: A column has two types.
    """
    found: dict[str, pa.Field] = {}
    for schema in schemas:
        for field in schema:
            other = found.setdefault(field.name, field)
            if other.type != field.type:
                raise ConnectError(
                    f"The records have a field {field.name} of two types, {other.type} and {field.type}, and "
                    "the table has no such column yet: make the table, or let a transformation unify them"
                )
    return pa.schema(list(found.values()))
