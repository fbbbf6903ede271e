"""Narrow numbers: schemaless values that are not Java's long and double. With a schema none is needed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar, Final

from copycat_connect.data.java import float_text
from copycat_connect.data.schema import ConnectValue, SchemaType


class Int8(int):
    """A schemaless Java byte."""

    java_class: ClassVar[str] = "java.lang.Byte"


class Int16(int):
    """A schemaless Java short."""

    java_class: ClassVar[str] = "java.lang.Short"


class Int32(int):
    """A schemaless Java int."""

    java_class: ClassVar[str] = "java.lang.Integer"


class Float32(float):
    """A schemaless Java float; holds a value that 32 bits can hold."""

    java_class: ClassVar[str] = "java.lang.Float"

    def __str__(self) -> str:
        return float_text(self)


_NARROW: Final[Mapping[SchemaType, Callable[[ConnectValue], ConnectValue]]] = {
    SchemaType.INT8: Int8,
    SchemaType.INT16: Int16,
    SchemaType.INT32: Int32,
    SchemaType.FLOAT32: Float32,
}


def narrowed(value: ConnectValue, type_: SchemaType) -> ConnectValue:
    """Return a number as one that says by itself that it is of a narrow type; other values as they are."""
    of = float if type_ is SchemaType.FLOAT32 else int
    return _NARROW[type_](value) if type(value) is of and type_ in _NARROW else value
