"""ReplaceField: drops and renames fields."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from copycat_connect.bounded_cache import BoundedCache
from copycat_connect.cluster import Config
from copycat_connect.config import MEDIUM
from copycat_connect.config.parsing import invalid_value
from copycat_connect.config.setting import ConfigSetting
from copycat_connect.config.settings import Settings, key, shared_key
from copycat_connect.data import ConnectRecord, ConnectValue, MapColumn, MapColumns, Schema, Struct
from copycat_connect.errors import DataError
from copycat_connect.plugin.transformations import Values

from copycat_plugins.transforms.fields import (
    REPLACE_NULL_KEY,
    are_maps,
    in_hash_order,
    read_field,
    require_map,
    require_struct,
    rows_of,
    split_pair,
    structs_of,
    with_fields,
)
from copycat_plugins.transforms.sides import Side, SidedTransformation, sided_plugins

_RENAMES = "renames"
_PURPOSE = "field replacement"


def _parse_renames(mappings: Sequence[str]) -> dict[str, str]:
    renames = {}
    for mapping in mappings:
        pair = split_pair(mapping)
        if len(pair) != 2:
            raise invalid_value(_RENAMES, list(mappings), f"Invalid rename mapping: {mapping}")
        renames[pair[0]] = pair[1]
    return renames


def _check_renames(name: str, value: ConfigSetting) -> None:
    del name
    _parse_renames(value or ())


class ReplaceFieldSettings(Settings):
    """Which fields are dropped, kept and renamed."""

    exclude: tuple[str, ...] = key(MEDIUM, default="", doc="Fields to drop; wins over include.")
    include: tuple[str, ...] = key(MEDIUM, default="", doc="The only fields to keep; empty for all.")
    renames: tuple[str, ...] = key(
        MEDIUM,
        name=_RENAMES,
        default="",
        check=_check_renames,
        doc="Pairs of an old and a new name, as in a:b,c:d.",
    )
    replace_null: bool = shared_key(REPLACE_NULL_KEY)


class ReplaceField(SidedTransformation):
    """Drops, keeps and renames fields of the top level; drops go by the old names."""

    def __init__(self, side: Side) -> None:
        super().__init__(side)
        self._schemas = BoundedCache(16, self._updated)

    def configure(self, config: Config) -> None:
        """Read which fields to keep, to drop and to rename."""
        settings = ReplaceFieldSettings.parse(config)
        self._exclude, self._include = frozenset(settings.exclude), frozenset(settings.include)
        self._renames = _parse_renames(settings.renames)
        # One name after the other is enough when no new name is an old one too.
        self._targets = frozenset(self._renames.values())
        self._is_local = (
            not self._include
            and not self._renames.keys() & self._targets
            and len(self._targets) == len(self._renames)
        )
        # Of two that are renamed alike Kafka Connect reads the one its hash map gives last.
        self._old_names = {self._renames[old]: old for old in in_hash_order(self._renames)}
        self._replace_null = settings.replace_null

    def change(
        self, record: ConnectRecord, schema: Schema | None, value: ConnectValue, *, owned: bool = False
    ) -> tuple[Schema | None, ConnectValue]:
        """Return the side with other fields; null stays untouched."""
        del record
        if value is None:
            return schema, None
        if schema is None:
            fields = require_map(value, _PURPOSE)
            return None, self._in_place(fields) if owned and self._is_local else self._rebuilt(fields)
        struct = require_struct(value, _PURPOSE, schema)
        schema, updated = struct.schema, self._schemas.get(struct.schema)
        result = Struct(updated)
        for target in updated.fields:
            # A field that has a renamed one's new name reads the old one, as in Kafka Connect.
            old_name = self._old_names.get(target.name, target.name)
            field = schema.field(old_name)
            if field is None:
                raise DataError(f"{old_name} is not a valid field name")
            result.put(target, read_field(struct, field, replace_null=self._replace_null))
        return updated, result

    def change_all(self, schema: Schema | None, values: list[ConnectValue]) -> Values | None:
        """Return many values with other fields."""
        if schema is None:
            if not are_maps(values):
                return None
            if not self._is_local:
                return None, list(map(self._rebuilt, values))
            for name in self._exclude:
                for fields in values:
                    fields.pop(name, None)
            if self._renames:
                return None, list(map(self._renamed, values))
            return None, values
        rows = None if self._renames else rows_of(schema, values)
        if rows is None:
            return None
        updated, places = self._schemas.get(schema), self._places(schema)
        return updated, structs_of(updated, [[row[place] for place in places] for row in rows])

    def change_columns(self, columns: MapColumns) -> dict[ConnectValue, MapColumn] | None:
        """Return columns under other names: what is done to one map is done to the map of them."""
        fields: dict[ConnectValue, Any] = dict(columns.columns)
        return self._in_place(fields) if self._is_local else self._rebuilt(fields)

    def _places(self, schema: Schema) -> list[int]:
        return [field.index for field in schema.field_list if self._keeps(field.name)]

    def _in_place(self, fields: dict[ConnectValue, ConnectValue]) -> dict[ConnectValue, ConnectValue]:
        for name in self._exclude:
            fields.pop(name, None)
        return self._renamed(fields)

    def _renamed(self, fields: dict[ConnectValue, ConnectValue]) -> dict[ConnectValue, ConnectValue]:
        for new in self._targets:
            if new in fields:
                return self._rebuilt(fields)
        for old, new in self._renames.items():
            if old in fields:
                fields[new] = fields.pop(old)
        return fields

    def _rebuilt(self, fields: dict[ConnectValue, ConnectValue]) -> dict[ConnectValue, ConnectValue]:
        exclude, include, renames = self._exclude, self._include, self._renames
        kept = {
            name: item
            for name, item in fields.items()
            if name not in exclude and (not include or name in include)
        }
        rebuilt = {renames.get(name, name): item for name, item in kept.items()}
        if len(rebuilt) < len(kept):  # of two with one name the later in Java's map stays
            names = in_hash_order(name for name in fields if isinstance(name, str))
            rebuilt |= {renames.get(name, name): kept[name] for name in names if name in kept}
        return rebuilt

    def _keeps(self, name: str) -> bool:
        return name not in self._exclude and (not self._include or name in self._include)

    def _updated(self, schema: Schema) -> Schema:
        kept = (field for field in schema.fields if self._keeps(field.name))
        return with_fields(
            schema, ((self._renames.get(field.name, field.name), field.schema) for field in kept)
        )


PLUGINS = sided_plugins(
    ReplaceField,
    "ReplaceField",
    "Drops and renames fields.",
    ReplaceFieldSettings.config_def(),
    {"Only two, renamed": {"include": "id,n", "renames": "n:name"}, "Without one": {"exclude": "internal"}},
)
