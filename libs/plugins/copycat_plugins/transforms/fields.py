"""What transformations share: checks of what they find, fields of structs, and names and pairs in their keys.

The texts of the checks are Kafka Connect's. Pairs such as `left:right` are cut and ordered as Java does:
which failure is met first depends on it.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from operator import itemgetter

from copycat_connect.config import BOOLEAN, MEDIUM, ConfigKey, distinct_names
from copycat_connect.config.setting import ConfigSetting
from copycat_connect.data import (
    ConnectRecord,
    ConnectValue,
    Field,
    Schema,
    SchemaBuilder,
    SchemaType,
    SinkRecord,
    Struct,
)
from copycat_connect.data.java import class_name
from copycat_connect.data.narrow import narrowed
from copycat_connect.errors import DataError

REPLACE_NULL_KEY = ConfigKey(
    "replace.null.with.default",
    BOOLEAN,
    MEDIUM,
    default=True,
    doc="Read a field that is not set as its default, when it has one; false keeps the null.",
)
_check = distinct_names(allow_empty=False)
_MAPS = frozenset({dict})
_STRUCTS = frozenset({Struct})


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


def require_map(value: ConnectValue, purpose: str) -> dict[ConnectValue, ConnectValue]:
    """Return the value if it is a map."""
    if not isinstance(value, dict):
        raise DataError(
            f"Only Map objects supported in absence of schema for [{purpose}], found: {class_name(value)}"
        )
    return value


def require_struct(value: ConnectValue, purpose: str, schema: Schema | None = None) -> Struct:
    """Return the value if it is a struct; the schema says what else it is."""
    if not isinstance(value, Struct):
        found = class_name(value) if schema is None else _class_by_schema(schema, value)
        raise DataError(f"Only Struct objects supported for [{purpose}], found: {found}")
    return value


def require_schema(schema: Schema | None, purpose: str) -> Schema:
    """Return the schema if there is one."""
    if schema is None:
        raise DataError(f"Schema required for [{purpose}]")
    return schema


def require_sink_record(record: ConnectRecord, purpose: str) -> SinkRecord:
    """Return the record if it came from Kafka."""
    if not isinstance(record, SinkRecord):
        found = "org.apache.kafka.connect.source.SourceRecord"
        raise DataError(f"Only SinkRecord supported for [{purpose}], found: {found}")
    return record


def some_names(name: str, value: ConfigSetting) -> None:
    """Accept lists with a name in them.

    Raises:
        ConfigError: It is missing, or empty.
    """
    _check(name, value if value is None else list(dict.fromkeys(value)))


def split_pair(text: str) -> list[str]:
    """Return the parts between colons; empty ones at the end do not count (Java's `String.split`)."""
    parts = text.split(":")
    while len(parts) > 1 and not parts[-1]:
        parts.pop()
    return [] if parts == [""] and text else parts


def in_hash_order(names: Iterable[str], slots: int = 16) -> list[str]:
    """Return names in the order in which Java's HashMap or HashSet gives them.

    Args:
        names: The names, in the order in which they were put in.
        slots: Size of the table when it was made, a power of two; it doubles when it is three quarters full.
    """
    distinct = list(dict.fromkeys(names))
    while len(distinct) > slots * 3 // 4:
        slots *= 2
    return sorted(distinct, key=lambda name: _spread(name) & slots - 1)


def set_slots(size: int) -> int:
    """Return the size of the table of a HashSet that is made of a collection."""
    wanted, slots = max(int(size / 0.75) + 1, 16), 16
    while slots < wanted:
        slots *= 2
    return slots


def are_maps(values: list[ConnectValue]) -> bool:
    """Return whether every value is a map, none of them null."""
    return _MAPS.issuperset(map(type, values))


def rows_of(schema: Schema, values: list[ConnectValue]) -> list[list[ConnectValue]] | None:
    """Return what structs of a schema hold, to be changed.

    None when that must be looked at field by field: something is no struct, or one of another schema, or null
    where a default or a refusal takes its place.
    """
    if schema.type is not SchemaType.STRUCT or not _STRUCTS.issuperset(map(type, values)):
        return None
    others = {id(struct.schema): struct.schema for struct in values if struct.schema is not schema}
    if any(other != schema for other in others.values()):
        return None
    rows = [[*struct.values] for struct in values]
    fields = schema.field_list
    guarded = [each.index for each in fields if not each.schema.optional or each.schema.default is not None]
    if len(guarded) == len(fields):
        has_gap = any(None in row for row in rows)
    elif len(guarded) == 1:
        has_gap = any(row[guarded[0]] is None for row in rows)
    else:
        has_gap = bool(guarded) and any(None in chosen for chosen in map(itemgetter(*guarded), rows))
    return None if has_gap else rows


def structs_of(schema: Schema, rows: list[list[ConnectValue]]) -> list[ConnectValue]:
    """Return structs that hold rows known to fit the schema."""
    return list(map(partial(Struct.of_valid, schema), rows))


def _class_by_schema(schema: Schema, value: ConnectValue) -> str:
    return class_name(narrowed(value, schema.type))


def _spread(name: str) -> int:
    """Return Java's String.hashCode, its upper half mixed into the lower as HashMap does."""
    code = 0
    units = name.encode("utf-16-be", "surrogatepass")
    for place in range(0, len(units), 2):
        code = code * 31 + int.from_bytes(units[place : place + 2], "big") & 0xFFFFFFFF
    return code ^ code >> 16
