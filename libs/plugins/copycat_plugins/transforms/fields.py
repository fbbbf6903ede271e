"""Fields of structs: reading them with or without defaults, and structs that differ by some fields."""

from __future__ import annotations

from collections.abc import Iterable

from copycat_connect.config import BOOLEAN, MEDIUM, ConfigKey
from copycat_connect.data import ConnectValue, Field, Schema, SchemaBuilder, SchemaType, Struct

REPLACE_NULL_KEY = ConfigKey(
    "replace.null.with.default",
    BOOLEAN,
    MEDIUM,
    default=True,
    doc="Read a field that is not set as its default, when it has one; false keeps the null.",
)


def read_field(struct: Struct, field: Field, *, replace_null: bool) -> ConnectValue:
    """Return a field, its default in place of null if that is wanted.

    Of a struct that has another schema than the field's this is, as in Kafka Connect, the field at its place
    or, without defaults, the one of its name.
    """
    return struct.get(field) if replace_null else struct.get_without_default(field.name)


def paired(struct: Struct, schema: Schema, updated: Schema) -> Iterable[tuple[Field, Field | None]]:
    """Return a struct's fields, each with the one that takes its value under an updated schema.

    Args:
        struct: The struct.
        schema: What its record says its schema is. When it is another one, fields are found by their names.
        updated: Made of `schema`, field by field. None stands for a field that it does not have.
    """
    if struct.schema is schema:
        return zip(schema.field_list, updated.field_list, strict=True)
    return [(field, updated.field(field.name)) for field in struct.schema.field_list]


def start_like(schema: Schema) -> SchemaBuilder:
    """Start a struct schema with the name, version, doc and parameters of another.

    Like Kafka Connect's this forgets `optional` and the default.
    """
    return copy_metadata(schema, SchemaBuilder(SchemaType.STRUCT))


def copy_metadata(schema: Schema, builder: SchemaBuilder) -> SchemaBuilder:
    """Give a builder the name, version, doc and parameters of a schema."""
    if schema.name is not None:
        builder.name(schema.name)
    if schema.version is not None:
        builder.version(schema.version)
    if schema.doc is not None:
        builder.doc(schema.doc)
    return builder.parameters(schema.parameters or {})


def with_fields(schema: Schema, fields: Iterable[tuple[str, Schema]]) -> Schema:
    """Return a struct schema like another but of these fields."""
    builder = start_like(schema)
    for name, field_schema in fields:
        builder.field(name, field_schema)
    return builder.build()
