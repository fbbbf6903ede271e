"""Names: what Connect's metadata is called in Protobuf, and the messages that stand for its types."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from copycat_avro.names import scrubbed
from copycat_connect.data import Schema, SchemaType
from copycat_connect.data.logical import DATE, DECIMAL, TIME, TIMESTAMP
from copycat_connect.errors import DataError

NAMESPACE: Final = "io.confluent.connect.protobuf"
DEFAULT_NAME: Final = "ConnectDefault"
ENUM: Final = NAMESPACE + ".Enum"
UNION: Final = NAMESPACE + ".Union"
TAG: Final = NAMESPACE + ".Tag"
TYPE: Final = NAMESPACE + ".Type"
CONNECT_TYPE: Final = "connect.type"
PRECISION: Final = "precision"
CONNECT_PRECISION: Final = "connect.decimal.precision"
ENTRY: Final = "Entry"
KEY: Final = "key"
VALUE: Final = "value"

LOGICAL_MESSAGES: Final[Mapping[str, str]] = {
    DECIMAL: "confluent.type.Decimal",
    DATE: "google.type.Date",
    TIME: "google.type.TimeOfDay",
    TIMESTAMP: "google.protobuf.Timestamp",
}
LOGICAL_FILES: Final[Mapping[str, str]] = {
    DECIMAL: "confluent/type/decimal.proto",
    DATE: "google/type/date.proto",
    TIME: "google/type/timeofday.proto",
    TIMESTAMP: "google/protobuf/timestamp.proto",
}
META_FILE: Final = "confluent/meta.proto"
WRAPPER_FILE: Final = "google/protobuf/wrappers.proto"
WRAPPER_PACKAGE: Final = "google.protobuf"
UNSIGNED_WRAPPER: Final = "UInt64Value"
WRAPPERS: Final[Mapping[str, SchemaType]] = {
    "DoubleValue": SchemaType.FLOAT64,
    "FloatValue": SchemaType.FLOAT32,
    "Int64Value": SchemaType.INT64,
    UNSIGNED_WRAPPER: SchemaType.INT64,
    "Int32Value": SchemaType.INT32,
    "UInt32Value": SchemaType.INT64,
    "BoolValue": SchemaType.BOOLEAN,
    "StringValue": SchemaType.STRING,
    "BytesValue": SchemaType.BYTES,
}
SCALARS: Final[Mapping[SchemaType, str]] = {
    SchemaType.INT8: "int32",
    SchemaType.INT16: "int32",
    SchemaType.INT32: "int32",
    SchemaType.INT64: "int64",
    SchemaType.FLOAT32: "float",
    SchemaType.FLOAT64: "double",
    SchemaType.BOOLEAN: "bool",
    SchemaType.STRING: "string",
    SchemaType.BYTES: "bytes",
}
_WRAPPER_OF: Final[Mapping[str, str]] = {
    "int32": "Int32Value",
    "sint32": "Int32Value",
    "sfixed32": "Int32Value",
    "uint32": "UInt32Value",
    "fixed32": "UInt32Value",
    "uint64": UNSIGNED_WRAPPER,
    "fixed64": UNSIGNED_WRAPPER,
    "int64": "Int64Value",
    "float": "FloatValue",
    "double": "DoubleValue",
    "bool": "BoolValue",
    "string": "StringValue",
    "bytes": "BytesValue",
}
_VALID = re.compile(r"[A-Za-z][A-Za-z0-9_]*", re.ASCII)


def wrapper_of(scalar: str) -> str:
    """Return the wrapper message of a scalar type, without its package."""
    return _WRAPPER_OF.get(scalar, "Int64Value")


def proto_name(name: str, *, scrub: bool) -> str:
    """Return the name a field or message shall have.

    Raises:
        DataError: Protobuf does not allow it, and it is not to be replaced.
    """
    if _VALID.fullmatch(name):
        return name
    if not scrub:
        raise DataError(
            f"{name!r} is no name in Protobuf, where names begin with a letter and go on with letters, "
            "digits and underscores: rename it, e.g. with ReplaceField or SetSchemaMetadata, or set "
            "scrub.invalid.names=true."
        )
    valid = scrubbed(name)
    return f"x{valid}" if valid.startswith("_") else valid


def is_union(schema: Schema) -> bool:
    """Return whether a struct stands for a oneof: one field for each member, of which one is set."""
    return schema.type is SchemaType.STRUCT and (schema.name or "").startswith(UNION)


def scalar_of(schema: Schema) -> str:
    """Return the scalar type that values of a plain schema are written as."""
    return (schema.parameters or {}).get(TYPE, SCALARS[schema.type])
