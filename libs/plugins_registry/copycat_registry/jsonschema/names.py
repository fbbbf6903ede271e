"""Names: what Connect's metadata is called in JSON Schemas."""

from __future__ import annotations

from typing import Final

from copycat_connect.data import Schema, SchemaType

NAMESPACE: Final = "io.confluent.connect.json"
CONNECT_TYPE: Final = "connect.type"
CONNECT_VERSION: Final = "connect.version"
CONNECT_PARAMETERS: Final = "connect.parameters"
CONNECT_INDEX: Final = "connect.index"
KEY: Final = "key"
VALUE: Final = "value"

ONE_OF: Final = NAMESPACE + ".OneOf"
ENUM: Final = NAMESPACE + ".Enum"
SHARED_UNION: Final = "org.apache.kafka.connect.data.Union"
SHARED_ENUM: Final = "org.apache.kafka.connect.data.Enum"
SHARED_UNION_NAME: Final = "connect_union_"
NULL_SYMBOL: Final = "<NULL>"


def is_union(schema: Schema) -> bool:
    """Return whether a struct stands for a union: one field for each member, of which one is set."""
    return schema.type is SchemaType.STRUCT and (
        schema.name == ONE_OF or SHARED_UNION in (schema.parameters or {})
    )


def has_text_keys(schema: Schema) -> bool:
    """Return whether a map is a JSON object; others are arrays of entries."""
    return schema.key is not None and schema.key.type is SchemaType.STRING and not schema.key.optional
