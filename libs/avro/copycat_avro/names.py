"""Names: what Connect's metadata is called in Avro schemas, and what Avro allows as a name."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import quote_plus

from copycat_connect.data import Schema, SchemaType
from copycat_connect.errors import DataError

NAMESPACE: Final = "io.confluent.connect.avro"
DEFAULT_NAME: Final = "ConnectDefault"
MAP_ENTRY: Final = "MapEntry"
KEY: Final = "key"
VALUE: Final = "value"

CONNECT_NAME: Final = "connect.name"
CONNECT_DOC: Final = "connect.doc"
CONNECT_VERSION: Final = "connect.version"
CONNECT_DEFAULT: Final = "connect.default"
CONNECT_PARAMETERS: Final = "connect.parameters"
CONNECT_TYPE: Final = "connect.type"
CONNECT_INTERNAL_TYPE: Final = "connect.internal.type"

RECORD_DOC: Final = NAMESPACE + ".record.doc"
FIELD_DOC: Final = NAMESPACE + ".field.doc."
FIELD_DEFAULT: Final = NAMESPACE + ".field.default"
ENUM_DOC: Final = NAMESPACE + ".enum.doc."
ENUM_DEFAULT: Final = NAMESPACE + ".enum.default."
FIXED_SIZE: Final = "connect.fixed.size"
PRECISION: Final = "connect.decimal.precision"
DEFAULT_PRECISION: Final = 64
AVRO_PREFIX: Final = "avro"

UNION: Final = NAMESPACE + ".Union"
ENUM: Final = NAMESPACE + ".Enum"
SHARED_UNION: Final = "org.apache.kafka.connect.data.Union"
SHARED_ENUM: Final = "org.apache.kafka.connect.data.Enum"
SHARED_UNION_NAME: Final = "connect_union_"
SHARED_UNION_FIELD: Final = SHARED_UNION_NAME + "field_"
VALID: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_INVALID_CHARACTER: Final = re.compile(r"[^A-Za-z0-9_]", re.ASCII)


def checked(name: str) -> str:
    """Return a name if Avro allows it.

    Raises:
        DataError: It does not.
    """
    if not VALID.fullmatch(name):
        message = (
            f"{name!r} is no name in Avro, where names are letters, digits and underscores: rename it, e.g. "
            "with ReplaceField or SetSchemaMetadata, or set scrub.invalid.names=true."
        )
        raise DataError(message)
    return name


def avro_name(name: str, *, scrub: bool) -> str:
    """Return the simple name Avro shall have.

    Raises:
        DataError: Avro does not allow it, and it is not to be replaced.
    """
    return scrubbed(name) if scrub else checked(name)


def split(full_name: str) -> tuple[str, str]:
    """Return namespace and simple name; the namespace may be empty."""
    namespace, _, name = full_name.rpartition(".")
    return namespace, name


def full_avro_name(name: str, *, scrub: bool) -> str:
    """Return the full name Avro shall have, each of its parts made valid or checked."""
    return ".".join(avro_name(part, scrub=scrub) for part in name.split("."))


def is_union(schema: Schema) -> bool:
    """Return whether a struct stands for a union: one field for each member, of which one is set."""
    return schema.type is SchemaType.STRUCT and (
        schema.name == UNION or SHARED_UNION in (schema.parameters or {})
    )


def is_fixed(schema: Schema) -> bool:
    """Return whether bytes were of an Avro fixed type."""
    return (
        schema.type is SchemaType.BYTES
        and schema.name is not None
        and FIXED_SIZE in (schema.parameters or {})
    )


def enum_parameter(schema: Schema) -> str | None:
    """Return the parameter that marks a string as an enum; None when it was none."""
    if schema.type is not SchemaType.STRING or schema.parameters is None:
        return None
    return next((name for name in (SHARED_ENUM, ENUM) if name in schema.parameters), None)


def scrubbed(name: str) -> str:
    """Return a valid name: percent-encoded, then with underscores for what is still not allowed."""
    if VALID.fullmatch(name):
        return name
    encoded = quote_plus(name, safe="*-._")
    if encoded[:1].isdigit():
        encoded = "x" + encoded
    return _INVALID_CHARACTER.sub("_", encoded)
