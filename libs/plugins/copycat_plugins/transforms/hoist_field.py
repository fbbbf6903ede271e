"""HoistField: wraps the key or value as the one field of a struct or map."""

from __future__ import annotations

from copycat_connect.bounded_cache import BoundedCache
from copycat_connect.cluster import Config
from copycat_connect.config import MEDIUM
from copycat_connect.config.settings import Settings, key
from copycat_connect.data import STRING_SCHEMA, ConnectRecord, ConnectValue, Schema, SchemaBuilder, Struct
from copycat_connect.plugin.transformations import Values

from copycat_plugins.transforms.fields import structs_of
from copycat_plugins.transforms.sides import Side, SidedTransformation, sided_plugins

_TEXTS = frozenset({str})


class HoistFieldSettings(Settings):
    """What the field is called."""

    field: str = key(MEDIUM, doc="Name of the field.")


class HoistField(SidedTransformation):
    """Wraps a key or value in a struct or map of one field."""

    def __init__(self, side: Side) -> None:
        super().__init__(side)
        self._schemas = BoundedCache(16, self._wrap)

    def configure(self, config: Config) -> None:
        """Read the name of the one field."""
        self._field = HoistFieldSettings.parse(config).field

    def change(
        self, record: ConnectRecord, schema: Schema | None, value: ConnectValue, *, owned: bool = False
    ) -> tuple[Schema | None, ConnectValue]:
        """Return a struct, or without a schema a map, with the side as its one field."""
        del record, owned
        if schema is None:
            return None, {self._field: value}
        updated = self._schemas.get(schema)
        return updated, Struct(updated).put(self._field, value)

    def change_all(self, schema: Schema | None, values: list[ConnectValue]) -> Values | None:
        """Wrap many values at once; None when they must be wrapped one by one."""
        if schema is None:
            name = self._field
            return None, [{name: value} for value in values]
        if schema is not STRING_SCHEMA or not _TEXTS.issuperset(map(type, values)):
            return None
        updated = self._schemas.get(schema)
        return updated, structs_of(updated, [[value] for value in values])

    def _wrap(self, schema: Schema) -> Schema:
        return SchemaBuilder.struct().field(self._field, schema).build()


PLUGINS = sided_plugins(
    HoistField,
    "HoistField",
    "Wraps the key or value as one field.",
    HoistFieldSettings.config_def(),
    {"A line": {"field": "line"}},
)
