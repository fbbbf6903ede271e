"""Values of many records at once, for transformations that need no more of a record."""

from __future__ import annotations

from functools import partial
from operator import itemgetter

from copycat_connect.data import ConnectValue, Schema, SchemaType, Struct

_MAPS = frozenset({dict})
_STRUCTS = frozenset({Struct})


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
