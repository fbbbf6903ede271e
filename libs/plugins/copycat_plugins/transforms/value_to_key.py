"""ValueToKey: makes the key of fields of the value."""

from __future__ import annotations

from typing import TypeVar

from copycat_connect.bounded_cache import BoundedCache
from copycat_connect.cluster import Config
from copycat_connect.config import HIGH
from copycat_connect.config.settings import Settings, key, shared_key
from copycat_connect.data import ConnectRecord, Schema, SchemaBuilder, Struct
from copycat_connect.errors import DataError
from copycat_connect.plugin import Transformation

from copycat_plugins.transforms.field_path import (
    SYNTAX_KEY,
    field_at,
    says_nested,
    split_path,
    value_in_map,
    value_in_struct,
)
from copycat_plugins.transforms.fields import REPLACE_NULL_KEY, require_map, require_struct, some_names
from copycat_plugins.transforms.sides import plain_plugin

R = TypeVar("R", bound=ConnectRecord)
_PURPOSE = "copying fields from value to key"


class ValueToKeySettings(Settings):
    """What the key is made of."""

    fields: tuple[str, ...] = key(
        HIGH,
        check=some_names,
        doc="The fields, in the order the key has them; with syntax V2 paths such as address.`post.code`, "
        "which are also the names that the key's fields have.",
    )
    replace_null: bool = shared_key(REPLACE_NULL_KEY)
    are_paths: bool = shared_key(SYNTAX_KEY, read=says_nested)


class ValueToKey(Transformation):
    """Copies fields of the value into a new key."""

    def __init__(self) -> None:
        self._schemas = BoundedCache(16, self._key_schema)

    def configure(self, config: Config) -> None:
        """Read the names or paths of the value's fields that make the key."""
        settings = ValueToKeySettings.parse(config)
        self._paths = {name: split_path(name, nested=settings.are_paths) for name in settings.fields}
        self._replace_null = settings.replace_null

    def apply(self, record: R) -> R | None:
        """Return the record with its new key."""
        schema = record.value_schema
        if schema is None:
            fields = require_map(record.value, _PURPOSE)
            found = {name: value_in_map(fields, steps) for name, steps in self._paths.items()}
            return record.replace(key_schema=None, key=found)
        struct = require_struct(record.value, _PURPOSE, schema)
        key_schema = self._schemas.get(struct.schema)
        key = Struct(key_schema)
        for target, steps in zip(key_schema.field_list, self._paths.values(), strict=True):
            key.put(target, value_in_struct(struct, steps, replace_null=self._replace_null))
        return record.replace(key_schema=key_schema, key=key, value_schema=struct.schema)

    def _key_schema(self, schema: Schema) -> Schema:
        builder = SchemaBuilder.struct()
        for name, steps in self._paths.items():
            field = field_at(schema, steps)
            if field is None:
                raise DataError(f"Field does not exist: {name}")
            builder.field(name, field.schema)
        return builder.build()


PLUGIN = plain_plugin(
    ValueToKey,
    "ValueToKey",
    "Makes the key of fields of the value.",
    ValueToKeySettings.config_def(),
    {
        "Keyed by id": {"fields": "id"},
        "Keyed by a nested field": {"fields": "customer.id", "field.syntax.version": "V2"},
    },
)
