"""Narrow numbers: schemaless values that are not Java's long and double. With a schema none is needed."""

from __future__ import annotations

from typing import ClassVar

from copycat_connect.data.java import float_text


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
