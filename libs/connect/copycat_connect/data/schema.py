"""Schemas: what a value is, independent of how it is serialised."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple, TypeAlias

from copycat_connect.errors import DataError

ConnectValue: TypeAlias = Any
"""None, bool, int, float, str, bytes, list, dict, Struct, Decimal, date, time or datetime.

FarDate and FarTimestamp stand for dates and datetimes outside of the years 1 to 9999.
"""


class SchemaType(Enum):
    """The types of Connect's data model; `str()` gives the upper-case name error texts use."""

    INT8 = "int8"
    INT16 = "int16"
    INT32 = "int32"
    INT64 = "int64"
    FLOAT32 = "float32"
    FLOAT64 = "float64"
    BOOLEAN = "boolean"
    STRING = "string"
    BYTES = "bytes"
    ARRAY = "array"
    MAP = "map"
    STRUCT = "struct"

    def __str__(self) -> str:
        return self.name

    @property
    def is_primitive(self) -> bool:
        """True for every type but ARRAY, MAP and STRUCT."""
        return self not in _COMPLEX


_COMPLEX = frozenset({SchemaType.ARRAY, SchemaType.MAP, SchemaType.STRUCT})


@dataclass(frozen=True, slots=True)
class Field:
    """A named member of a STRUCT schema."""

    name: str
    """Name, unique within the struct."""
    index: int
    """Place within the struct, from 0."""
    schema: Schema
    """What the member holds."""

    def __str__(self) -> str:
        return f"Field{{name={self.name}, index={self.index}, schema={self.schema}}}"


@dataclass(frozen=True, slots=True)
class Schema:
    """The type of a value, with its metadata.

    Equality covers every attribute, so two schemas that differ only in doc differ. Build one with
    `SchemaBuilder`, or take a constant such as `STRING_SCHEMA`.
    """

    type: SchemaType
    """The physical type."""
    optional: bool = False
    """True when null is a value."""
    default: ConnectValue = None
    """Stands in for a missing value; None means that no default is set."""
    name: str | None = None
    """Name of the type; some names make it a logical type."""
    version: int | None = None
    """Version of the named type."""
    doc: str | None = None
    """What the value means, for people."""
    parameters: Mapping[str, str] | None = None
    """More metadata, in order; never empty."""
    field_list: tuple[Field, ...] = ()
    """Members of a STRUCT, in order; read them through `fields`."""
    key: Schema | None = None
    """Schema of a MAP's keys; read it through `key_schema`."""
    value: Schema | None = None
    """Schema of a MAP's or an ARRAY's values; read it through `value_schema`."""
    _by_name: Mapping[str, Field] = field(init=False, repr=False, compare=False)
    struct_template: str = field(init=False, repr=False, compare=False)
    """Java's text of a struct without nulls, its values to be filled in."""
    holds_float32: bool = field(init=False, repr=False, compare=False)
    """True when a value, or a part of it at any depth, is a FLOAT32: as text it has the digits of 32 bits."""

    def __post_init__(self) -> None:
        """Index the members by name."""
        object.__setattr__(self, "_by_name", {member.name: member for member in self.field_list})
        members = (member.name.replace("%", "%%") + "=%s" for member in self.field_list)
        object.__setattr__(self, "struct_template", "Struct{" + ",".join(members) + "}")
        parts = [member.schema for member in self.field_list] if self.field_list else (self.key, self.value)
        holds = self.type is SchemaType.FLOAT32 or any(
            part is not None and part.holds_float32 for part in parts
        )
        object.__setattr__(self, "holds_float32", holds)

    def __hash__(self) -> int:
        return hash((self.type, self.optional, self.name, self.version, len(self.field_list)))

    def __str__(self) -> str:
        return f"Schema{{{self.name}:{self.type}}}" if self.name is not None else f"Schema{{{self.type}}}"

    @property
    def fields(self) -> tuple[Field, ...]:
        """Members of a STRUCT, in order.

        Raises:
            DataError: This is no STRUCT.
        """
        if self.type is not SchemaType.STRUCT:
            raise DataError("Cannot list fields on non-struct type")
        return self.field_list

    def field(self, name: str) -> Field | None:
        """Return the member of that name, or None.

        Raises:
            DataError: This is no STRUCT.
        """
        if self.type is not SchemaType.STRUCT:
            raise DataError("Cannot look up fields on non-struct type")
        return self._by_name.get(name)

    def admits_struct(self, other: Schema) -> bool:
        """Return whether a struct of another schema is a value of this one.

        It is where the schemas are equal, or this one has a default: that is made before the schema that
        holds it, so its own schema has none.
        """
        if self is other or self == other:
            return True
        return (
            self.default is not None
            and (self.type, self.name, self.version) == (other.type, other.name, other.version)
            and self.field_list == other.field_list
        )

    @property
    def key_schema(self) -> Schema | None:
        """Schema of a MAP's keys.

        Raises:
            DataError: This is no MAP.
        """
        if self.type is not SchemaType.MAP:
            raise DataError("Cannot look up key schema on non-map type")
        return self.key

    @property
    def value_schema(self) -> Schema | None:
        """Schema of a MAP's or an ARRAY's values; None in the array a header of no common type becomes.

        Raises:
            DataError: This is neither MAP nor ARRAY.
        """
        if self.type not in (SchemaType.MAP, SchemaType.ARRAY):
            raise DataError("Cannot look up value schema on non-array and non-map type")
        return self.value


INT8_SCHEMA = Schema(SchemaType.INT8)
INT16_SCHEMA = Schema(SchemaType.INT16)
INT32_SCHEMA = Schema(SchemaType.INT32)
INT64_SCHEMA = Schema(SchemaType.INT64)
FLOAT32_SCHEMA = Schema(SchemaType.FLOAT32)
FLOAT64_SCHEMA = Schema(SchemaType.FLOAT64)
BOOLEAN_SCHEMA = Schema(SchemaType.BOOLEAN)
STRING_SCHEMA = Schema(SchemaType.STRING)
BYTES_SCHEMA = Schema(SchemaType.BYTES)

OPTIONAL_INT8_SCHEMA = Schema(SchemaType.INT8, optional=True)
OPTIONAL_INT16_SCHEMA = Schema(SchemaType.INT16, optional=True)
OPTIONAL_INT32_SCHEMA = Schema(SchemaType.INT32, optional=True)
OPTIONAL_INT64_SCHEMA = Schema(SchemaType.INT64, optional=True)
OPTIONAL_FLOAT32_SCHEMA = Schema(SchemaType.FLOAT32, optional=True)
OPTIONAL_FLOAT64_SCHEMA = Schema(SchemaType.FLOAT64, optional=True)
OPTIONAL_BOOLEAN_SCHEMA = Schema(SchemaType.BOOLEAN, optional=True)
OPTIONAL_STRING_SCHEMA = Schema(SchemaType.STRING, optional=True)
OPTIONAL_BYTES_SCHEMA = Schema(SchemaType.BYTES, optional=True)


class SchemaAndValue(NamedTuple):
    """A value and its schema."""

    schema: Schema | None
    """The schema; None for schemaless data."""
    value: ConnectValue
    """The value."""


NULL = SchemaAndValue(None, None)
