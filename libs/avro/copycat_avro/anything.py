"""Values without a schema in Avro: a record with one optional field for each type, of which one is set."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from copycat_connect.data import ConnectValue
from copycat_connect.data.java import class_text
from copycat_connect.data.narrow import Float32, Int8, Int16, Int32
from copycat_connect.errors import DataError

from copycat_avro.names import KEY, MAP_ENTRY, NAMESPACE, VALUE

Json = Any
"""A schema or a default as parsed JSON."""
AvroValue = Any
"""A value as fastavro takes and gives it."""

NAME: Final = "Anything"
FULL_NAME: Final = f"{NAMESPACE}.{NAME}"
_FIELDS: Final = ("boolean", "bytes", "double", "float", "int", "long", "string")

SCHEMA: Final[Json] = {
    "type": "record",
    "name": NAME,
    "namespace": NAMESPACE,
    "fields": [
        *({"name": name, "type": ["null", name], "default": None} for name in _FIELDS),
        {"name": "array", "type": ["null", {"type": "array", "items": NAME}], "default": None},
        {
            "name": "map",
            "type": [
                "null",
                {
                    "type": "array",
                    "items": {
                        "type": "record",
                        "name": MAP_ENTRY,
                        "fields": [{"name": KEY, "type": NAME}, {"name": VALUE, "type": NAME}],
                    },
                },
            ],
            "default": None,
        },
    ],
}
_FIELD_OF: Final[Mapping[type, str]] = {
    bool: "boolean",
    bytes: "bytes",
    bytearray: "bytes",
    float: "double",
    Float32: "float",
    int: "long",
    Int8: "int",
    Int16: "int",
    Int32: "int",
    str: "string",
    list: "array",
    tuple: "array",
    dict: "map",
}


def write(value: ConnectValue) -> AvroValue:
    """Return the record of a value; that of null has nothing set.

    Raises:
        DataError: Values of its class cannot be distinguished without a schema.
    """
    if value is None:
        return {}
    field = _FIELD_OF.get(type(value))
    if field is None:
        message = (
            f"Unknown Java type for schemaless data: {class_text(value)}. Give the records a schema, or turn "
            "such values into text or numbers."
        )
        raise DataError(message)
    if field == "array":
        return {field: [write(item) for item in value]}
    if field == "map":
        return {field: [{KEY: write(key), VALUE: write(item)} for key, item in value.items()]}
    return {field: value}


def read(record: AvroValue) -> ConnectValue:
    """Return the value of a record."""
    for name, value in record.items():
        if value is not None:
            return _INSIDE[name](value) if name in _INSIDE else value
    return None


def _read_array(items: AvroValue) -> ConnectValue:
    return [read(item) for item in items]


def _read_map(entries: AvroValue) -> ConnectValue:
    return {read(entry[KEY]): read(entry[VALUE]) for entry in entries}


_INSIDE: Final[Mapping[str, Callable[[AvroValue], ConnectValue]]] = {
    "array": _read_array,
    "map": _read_map,
    "int": Int32,
    "float": Float32,
}
