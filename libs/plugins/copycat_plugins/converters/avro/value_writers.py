"""How Connect values become what fastavro writes. None stands for values that are that already."""

from __future__ import annotations

from collections.abc import Sequence

from copycat_connect.data import ConnectValue, Schema, Struct
from copycat_connect.errors import DataError

from copycat_plugins.converters.avro.anything import AvroValue
from copycat_plugins.converters.avro.logical_types import ToAvro
from copycat_plugins.converters.avro.names import KEY, VALUE


def optional(write: ToAvro | None, branch: str | None) -> ToAvro | None:
    """Let null through; a named type is named, which spares fastavro trying all."""
    if branch is None:
        return None if write is None else lambda value: None if value is None else write(value)
    if write is None:
        return lambda value: None if value is None else (branch, value)
    return lambda value: None if value is None else (branch, write(value))


def array(write: ToAvro | None) -> ToAvro | None:
    """Return a writer of lists that writes each item."""
    return None if write is None else lambda items: [write(item) for item in items]


def text_map(write: ToAvro | None) -> ToAvro | None:
    """Write each value of a map."""
    if write is None:
        return None
    return lambda value: {key: write(item) for key, item in value.items()}


def entries(write_key: ToAvro | None, write_value: ToAvro | None) -> ToAvro:
    """Write a map as a list of entries."""
    key_of, value_of = write_key or _as_is, write_value or _as_is
    return lambda value: [{KEY: key_of(key), VALUE: value_of(item)} for key, item in value.items()]


def record(schema: Schema, fields: Sequence[tuple[str, ToAvro | None]], *, use_defaults: bool) -> ToAvro:
    """Write a struct; an unset field is its default where that is wanted."""
    defaults = [field.schema.default if use_defaults else None for field in schema.fields]
    names = [name for name, _ in fields]
    if not any(write for _, write in fields) and all(default is None for default in defaults):
        return lambda struct: dict(zip(names, struct.values, strict=True))
    steps = [
        (name, write or _as_is, default) for (name, write), default in zip(fields, defaults, strict=True)
    ]

    def write_struct(struct: Struct) -> AvroValue:
        return {
            name: write(default if value is None else value)
            for (name, write, default), value in zip(steps, struct.values, strict=True)
        }

    return write_struct


def union(branches: Sequence[tuple[str, ToAvro | None]]) -> ToAvro:
    """Write the one field that is set of a struct that stands for a union."""
    steps = [(branch, write or _as_is) for branch, write in branches]

    def write_union(struct: Struct | None) -> AvroValue:
        if struct is None:
            return None
        for (branch, write), value in zip(steps, struct.values, strict=True):
            if value is not None:
                return branch, write(value)
        raise DataError(
            "A struct that stands for a union has no field set: set the one that holds the value."
        )

    return write_union


def _as_is(value: ConnectValue) -> AvroValue:
    return value
