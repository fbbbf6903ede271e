"""Cast: changes the types of fields, or of a whole key or value."""

from __future__ import annotations

from collections.abc import Sequence

from copycat_connect.bounded_cache import BoundedCache
from copycat_connect.cluster import Config
from copycat_connect.config import HIGH, LIST
from copycat_connect.config.parsing import invalid_value
from copycat_connect.config.setting import ConfigSetting
from copycat_connect.config.settings import Settings, key, shared_key
from copycat_connect.data import (
    ConnectRecord,
    ConnectValue,
    MapColumn,
    MapColumns,
    Schema,
    SchemaBuilder,
    SchemaType,
    Struct,
)
from copycat_connect.data.narrow import narrowed
from copycat_connect.errors import ConfigError
from copycat_connect.plugin.transformations import Values

from copycat_plugins.transforms.cast_types import DIRECT, TARGETS, cast
from copycat_plugins.transforms.columns import are_maps, rows_of, structs_of
from copycat_plugins.transforms.fields import (
    REPLACE_NULL_KEY,
    copy_metadata,
    paired,
    read_field,
    start_like,
)
from copycat_plugins.transforms.name_pairs import in_hash_order, split_pair
from copycat_plugins.transforms.requirements import require_map, require_struct
from copycat_plugins.transforms.sides import Side, SidedTransformation, sided_plugins

_PURPOSE = "cast types"


def parse_casts(mappings: Sequence[str]) -> tuple[dict[str, SchemaType], SchemaType | None]:
    """Return the types by field, and the type of the whole, of which one is empty.

    Raises:
        ConfigError: A mapping is no mapping, or a type no type.
    """
    casts: dict[str, SchemaType] = {}
    whole: SchemaType | None = None
    for mapping in mappings:
        parts = split_pair(mapping)
        if len(parts) not in (1, 2):
            raise invalid_value("renames", list(mappings), f"Invalid rename mapping: {mapping}")
        if len(parts) == 2:
            casts[parts[0].strip()] = _parse_type(parts[1])
        else:
            whole = _parse_type(parts[0])
    if whole is not None and (casts or len(mappings) > 1):
        raise ConfigError(
            "Cast transformations that specify a type to cast the entire value to may only specify a single "
            "cast in their spec"
        )
    # Of several fields that fail Kafka Connect names the first of its hash map.
    return {name: casts[name] for name in in_hash_order(casts)}, whole


def _parse_type(text: str) -> SchemaType:
    name = text.strip().upper()
    if name not in SchemaType.__members__:
        raise ConfigError(
            "Invalid value java.lang.IllegalArgumentException: No enum constant "
            f"org.apache.kafka.connect.data.Schema.Type.{name} for configuration "
            f"Invalid type found in casting spec: {text.strip()}"
        )
    if SchemaType[name] not in TARGETS:
        supported = ", ".join(map(str, TARGETS))
        raise ConfigError(
            f"Cast transformation does not support casting to {name}; supported types are [{supported}]"
        )
    return SchemaType[name]


def _check_spec(name: str, value: ConfigSetting) -> None:
    if not value:
        raise ConfigError("Must specify at least one field to cast.", key=name)
    parse_casts(value)


class CastSettings(Settings):
    """What is cast, and to which types."""

    spec: tuple[dict[str, SchemaType], SchemaType | None] = key(
        HIGH,
        type=LIST,
        check=_check_spec,
        read=parse_casts,
        doc="Pairs of a field and its new type, as in id:int64,price:string; or one type for the whole.",
    )
    replace_null: bool = shared_key(REPLACE_NULL_KEY)


class Cast(SidedTransformation):
    """Casts fields of the top level."""

    def __init__(self, side: Side) -> None:
        super().__init__(side)
        self._schemas = BoundedCache(16, self._cast_schema)

    def configure(self, config: Config) -> None:
        """Parse `spec`: one type for the whole side, or a type for each named field."""
        settings = CastSettings.parse(config)
        self._casts, self._whole = settings.spec
        self._replace_null = settings.replace_null

    def change(
        self, record: ConnectRecord, schema: Schema | None, value: ConnectValue, *, owned: bool = False
    ) -> tuple[Schema | None, ConnectValue]:
        """Return the cast side; null stays untouched."""
        del record
        if value is None:
            return schema, None
        if schema is None:
            return None, self._schemaless(value, owned=owned)
        updated = self._schemas.get(schema)
        if self._whole is not None:
            changed = cast(schema, value, self._whole)
            # A schema that keeps the name of a logical type does not say what the value is now.
            return updated, changed if updated.name is None else narrowed(changed, self._whole)
        source, result = require_struct(value, _PURPOSE, schema), Struct(updated)
        for field, target in paired(source, schema, updated):
            item = read_field(source, field, replace_null=self._replace_null)
            wanted = self._casts.get(field.name)
            result.put(target, item if wanted is None else cast(field.schema, item, wanted))
        return updated, result

    def change_all(self, schema: Schema | None, values: list[ConnectValue]) -> Values | None:
        """Cast the fields of many values at once; None when they must be cast one by one."""
        if self._whole is not None:
            return None
        if schema is not None:
            return self._change_structs(schema, values)
        if not are_maps(values):
            return None
        for name, wanted in self._casts.items():
            direct = DIRECT.get(wanted, {})
            for fields in values:
                item = fields.get(name)
                quick = direct.get(type(item))
                fields[name] = quick(item) if quick else narrowed(cast(None, item, wanted), wanted)
        return None, values

    def change_columns(self, columns: MapColumns) -> dict[ConnectValue, MapColumn] | None:
        """Cast columns; a field that is not there becomes null."""
        if self._whole is not None:
            return None
        changed = dict(columns.columns)
        for name, wanted in self._casts.items():
            column = changed.get(name, [None] * len(columns))
            kinds = set(map(type, column))
            quick = DIRECT.get(wanted, {}).get(kinds.pop()) if len(kinds) == 1 else None
            if quick is not None:
                changed[name] = list(map(quick, column))
            else:
                changed[name] = [narrowed(cast(None, item, wanted), wanted) for item in column]
        return changed

    def _change_structs(self, schema: Schema, values: list[ConnectValue]) -> Values | None:
        rows = rows_of(schema, values)
        if rows is None:
            return None
        updated = self._schemas.get(schema)
        for field in schema.field_list:
            chosen = self._casts.get(field.name)
            if chosen is not None:
                place, item_schema = field.index, field.schema
                for row in rows:
                    row[place] = cast(item_schema, row[place], chosen)
        return updated, structs_of(updated, rows)

    def _schemaless(self, value: ConnectValue, *, owned: bool) -> ConnectValue:
        if self._whole is not None:
            return narrowed(cast(None, value, self._whole), self._whole)
        fields = require_map(value, _PURPOSE) if owned else dict(require_map(value, _PURPOSE))
        for name, wanted in self._casts.items():
            fields[name] = narrowed(cast(None, fields.get(name), wanted), wanted)
        return fields

    def _cast_schema(self, schema: Schema) -> Schema:
        if self._whole is not None:
            builder = copy_metadata(schema, SchemaBuilder(self._whole))
        else:
            builder = start_like(schema)
            for field in schema.fields:
                builder.field(field.name, self._cast_field(field.name, field.schema))
        if schema.optional:
            builder.optional()
        if schema.default is not None and self._whole is not None:
            builder.default_value(cast(schema, schema.default, self._whole))
        return builder.build()

    def _cast_field(self, name: str, schema: Schema) -> Schema:
        wanted = self._casts.get(name)
        if wanted is None:
            return schema
        builder = SchemaBuilder(wanted)
        if schema.optional:
            builder.optional()
        if schema.default is not None:
            builder.default_value(cast(schema, schema.default, wanted))
        return builder.build()


PLUGINS = sided_plugins(
    Cast,
    "Cast",
    "Changes the types of fields, or of the whole key or value.",
    CastSettings.config_def(),
    {"Numbers from text": {"spec": "id:int64,price:float64"}, "Everything to text": {"spec": "string"}},
)
