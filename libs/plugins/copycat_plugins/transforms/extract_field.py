"""ExtractField: one field takes the place of the whole key or value."""

from __future__ import annotations

from copycat_connect.cluster import Config
from copycat_connect.config import MEDIUM
from copycat_connect.config.settings import Settings, key, shared_key
from copycat_connect.data import ConnectRecord, ConnectValue, Schema
from copycat_connect.errors import DataError

from copycat_plugins.transforms.field_path import (
    SYNTAX_KEY,
    field_at,
    says_nested,
    split_path,
    value_in_map,
    value_in_struct,
)
from copycat_plugins.transforms.fields import REPLACE_NULL_KEY, require_map, require_struct
from copycat_plugins.transforms.sides import SidedTransformation, sided_plugins

_PURPOSE = "field extraction"


class ExtractFieldSettings(Settings):
    """Which field is taken."""

    field: str = key(MEDIUM, doc="The field; with syntax V2 a path such as address.`post.code`.")
    replace_null: bool = shared_key(REPLACE_NULL_KEY)
    is_path: bool = shared_key(SYNTAX_KEY, read=says_nested)


class ExtractField(SidedTransformation):
    """Takes one field out of a struct or map."""

    def configure(self, config: Config) -> None:
        """Read the field's name or, in syntax V2, its path."""
        settings = ExtractFieldSettings.parse(config)
        self._field = settings.field
        self._steps = split_path(settings.field, nested=settings.is_path)
        self._is_empty = settings.is_path and not settings.field
        self._replace_null = settings.replace_null

    def change(
        self, record: ConnectRecord, schema: Schema | None, value: ConnectValue, *, owned: bool = False
    ) -> tuple[Schema | None, ConnectValue]:
        """Return the field's schema and value in place of the side they were in."""
        del record
        if self._is_empty and value is not None:
            (require_map if schema is None else require_struct)(value, _PURPOSE)
            raise DataError("The path of ExtractField is empty: give the key field a name or a path")
        if schema is None:
            found = None if value is None else value_in_map(require_map(value, _PURPOSE), self._steps)
            # What was inside is not the caller's to change.
            return None, dict(found) if owned and isinstance(found, dict) else found
        struct = None if value is None else require_struct(value, _PURPOSE, schema)
        field = field_at(schema, self._steps)
        if field is None:
            raise DataError(f"Unknown field: {self._field}")
        if struct is None:
            return field.schema, None
        return field.schema, value_in_struct(struct, self._steps, replace_null=self._replace_null)


PLUGINS = sided_plugins(
    ExtractField,
    "ExtractField",
    "Replaces the key or value by one of its fields.",
    ExtractFieldSettings.config_def(),
    {
        "The id as key": {"field": "id"},
        "A nested field": {"field": "customer.id", "field.syntax.version": "V2"},
    },
)
