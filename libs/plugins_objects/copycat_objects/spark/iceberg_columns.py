"""Columns of an Iceberg table in its files, which know them by number: what Spark reads, and SQL of that.

After the section Column Projection of Iceberg's table specification. Spark reads a file by the names that the
file has, whatever the table calls them; SQL gives them the table's names and types. What a file lacks is the
value of its partition, the column's initial default, or null.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import pyarrow as pa
from copycat_connect.errors import ConnectError
from pyiceberg.schema import Schema
from pyiceberg.table.name_mapping import MappedField, parse_mapping_from_json
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    FixedType,
    FloatType,
    IcebergType,
    IntegerType,
    ListType,
    LongType,
    MapType,
    NestedField,
    StringType,
    StructType,
    TimestampType,
    TimestamptzType,
    TimeType,
    UUIDType,
)

from copycat_objects.spark.databases import quoted
from copycat_objects.spark.followed_tables import FileColumns, constant

#: Where Arrow keeps the number that a Parquet file gives to a column.
_NUMBER: Final = b"PARQUET:field_id"
_BINARY: Final = "binary"
#: What Spark calls types.
_NAMES: Final[Mapping[type[IcebergType], str]] = {
    BooleanType: "boolean",
    IntegerType: "integer",
    LongType: "long",
    FloatType: "float",
    DoubleType: "double",
    DateType: "date",
    TimeType: "time(6)",
    TimestampType: "timestamp_ntz",
    TimestamptzType: "timestamp",
    StringType: "string",
    UUIDType: _BINARY,
    BinaryType: _BINARY,
    FixedType: _BINARY,
}
Kind = str | dict[str, Any]
"""A type as the JSON of Spark's schemas has it."""


@dataclass(frozen=True, slots=True)
class IcebergColumns:
    """The columns of a table."""

    schema: str
    """JSON of Iceberg's schema."""
    names: str | None
    """JSON of the names by which files without numbers have them (`schema.name-mapping.default`)."""
    partitions: tuple[int, ...]
    """Numbers of those by which files are divided as they are."""


@dataclass(frozen=True, slots=True)
class _Found:
    """A column in a file."""

    field: pa.Field
    """As Arrow has it."""
    names: Sequence[MappedField]
    """The names of its parts; empty where they have numbers."""


def spark_columns(columns: IcebergColumns, values: Sequence[str | None], file: pa.Schema) -> FileColumns:
    """Return what Spark reads a file with.

    Args:
        columns: Those of the table.
        values: The value of each column of partitions.
        file: The columns of the file.

    Raises:
        ConnectError: Spark has nothing for the type of a column, or it is not known which is which.
    """
    given = dict(zip(columns.partitions, values, strict=True))
    has_numbers = any(_NUMBER in (field.metadata or {}) for field in file)
    if not has_numbers and columns.names is None:
        raise ConnectError(
            "files have no numbers of columns, and the table no names of columns by which to know them "
            "(its property schema.name-mapping.default)"
        )
    names = [] if has_numbers else _names(str(columns.names))
    there = _by_number(file, names)
    own, sql = [], []
    for field in _schema(columns.schema).fields:
        name, kind = quoted(field.name), _sql(_kind(field.field_type, field.name))
        found = there.get(field.field_id)
        if found is None:
            sql.append(f"{_absent(field, given, kind)} AS {name}")
            continue
        read = _kind_in_file(field.field_type, found, field.name)
        own.append(_part(found.field.name, read))
        here = quoted(found.field.name)
        sql.append(name if (here, _sql(read)) == (name, kind) else f"CAST({here} AS {kind}) AS {name}")
    return json.dumps(_struct(own)), tuple(sql)


def table_schema(schema: Schema) -> str:
    """Return the columns of a table as the JSON of Spark's.

    Raises:
        ConnectError: Spark has nothing for the type of a column.
    """
    return json.dumps(
        _struct([_part(each.name, _kind(each.field_type, each.name)) for each in schema.fields])
    )


def text_of(type_: IcebergType, value: Any) -> str | None:  # noqa: ANN401 - as its type has it
    """Return the value of a partition as `spark_columns` has it."""
    return None if value is None else IdentityTransform().to_human_string(type_, value)


_schema: Final = lru_cache(maxsize=100)(Schema.model_validate_json)


@lru_cache(maxsize=100)
def _names(text: str) -> list[MappedField]:
    return parse_mapping_from_json(text).root


def _by_number(fields: Sequence[pa.Field], names: Sequence[MappedField]) -> dict[int, _Found]:
    """Return fields of a file by the numbers that the table gives them."""
    found = {}
    for field in fields:
        said, parts = (field.metadata or {}).get(_NUMBER), list[MappedField]()
        number = None if said is None else int(said)
        for each in names:
            if field.name in each.names:
                number, parts = each.field_id, each.fields
        if number is not None:
            found[number] = _Found(field, parts)
    return found


def _absent(field: NestedField, given: Mapping[int, str | None], kind: str) -> str:
    """Return the SQL of a column that a file does not have."""
    value = given.get(field.field_id)
    if field.field_id not in given and field.initial_default is not None:
        value = text_of(field.field_type, field.initial_default)
    if value is not None and kind == _BINARY:
        return f"unbase64('{value}')"
    return constant(value, kind)


def _kind(type_: IcebergType, column: str) -> Kind:
    """Return what Spark has for a type of the table.

    Raises:
        ConnectError: It has nothing.
    """
    match type_:
        case StructType():
            return _struct([_part(each.name, _kind(each.field_type, column)) for each in type_.fields])
        case ListType():
            return _list(_kind(type_.element_type, column))
        case MapType():
            return _map(_kind(type_.key_type, column), _kind(type_.value_type, column))
        case DecimalType():
            return f"decimal({type_.precision},{type_.scale})"
        case _ if type(type_) in _NAMES:
            return _NAMES[type(type_)]
        case _:
            raise ConnectError(f"the column {column} has the type {type_}, for which Spark has nothing here")


def _kind_in_file(type_: IcebergType, found: _Found, column: str) -> Kind:
    """Return as what Spark reads a column: with the names and widths of a file, in the table's order."""
    there = found.field.type
    match type_:
        case StructType():
            inner = _by_number([*there], found.names)
            taken = {each.name.lower() for each in there}
            return _struct(
                [_part_in_file(each, inner.get(each.field_id), taken, column) for each in type_.fields]
            )
        case ListType():
            element = _Found(there.value_field, _names_of(found, "element"))
            return _list(_kind_in_file(type_.element_type, element, column))
        case MapType():
            key = _Found(there.key_field, _names_of(found, "key"))
            value = _Found(there.item_field, _names_of(found, "value"))
            return _map(
                _kind_in_file(type_.key_type, key, column), _kind_in_file(type_.value_type, value, column)
            )
        case _:
            return _narrower(type_, there) or _kind(type_, column)


def _narrower(type_: IcebergType, there: pa.DataType) -> str | None:
    """Return the type in a file that was written before the table's column became wider."""
    match type_:
        case LongType() if pa.types.is_int32(there):
            return _NAMES[IntegerType]
        case DoubleType() if pa.types.is_float32(there):
            return _NAMES[FloatType]
        case DecimalType() if pa.types.is_decimal(there):
            return f"decimal({there.precision},{there.scale})"
        case _:
            return None


def _part_in_file(field: NestedField, found: _Found | None, taken: set[str], column: str) -> dict[str, Any]:
    """Return a field of a struct; one that the file does not have gets a name that nothing there has."""
    if found is not None:
        return _part(found.field.name, _kind_in_file(field.field_type, found, column))
    if field.initial_default is not None:
        raise ConnectError(
            f"{field.name} in the column {column} has an initial default, which is not supported"
        )
    name = f"absent {field.field_id}"
    while name in taken:
        name += "_"
    return _part(name, _kind(field.field_type, column))


def _names_of(found: _Found, part: str) -> Sequence[MappedField]:
    return next((each.fields for each in found.names if part in each.names), [])


def _part(name: str, kind: Kind) -> dict[str, Any]:
    return {"name": name, "type": kind, "nullable": True, "metadata": {}}


def _struct(fields: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {"type": "struct", "fields": [*fields]}


def _list(element: Kind) -> dict[str, Any]:
    return {"type": "array", "elementType": element, "containsNull": True}


def _map(key: Kind, value: Kind) -> dict[str, Any]:
    return {"type": "map", "keyType": key, "valueType": value, "valueContainsNull": True}


def _sql(kind: Kind) -> str:
    """Return the name of a type in SQL."""
    if isinstance(kind, str):
        return kind
    if kind["type"] == "array":
        return f"array<{_sql(kind['elementType'])}>"
    if kind["type"] == "map":
        return f"map<{_sql(kind['keyType'])}, {_sql(kind['valueType'])}>"
    parts = (f"{quoted(part['name'])}: {_sql(part['type'])}" for part in kind["fields"])
    return f"struct<{', '.join(parts)}>"
