"""SetSchemaMetadata: gives the schema another name or version."""

from __future__ import annotations

from dataclasses import replace

from copycat_connect.bounded_cache import BoundedCache
from copycat_connect.cluster import Config
from copycat_connect.config import HIGH
from copycat_connect.config.settings import Settings, key, shared_key
from copycat_connect.data import ConnectRecord, ConnectValue, Schema, SchemaType, Struct
from copycat_connect.errors import ConfigError, DataError

from copycat_plugins.transforms.fields import REPLACE_NULL_KEY, read_field, require_schema
from copycat_plugins.transforms.sides import Side, SidedTransformation, sided_plugins

_PURPOSE = "updating schema metadata"


class SetSchemaMetadataSettings(Settings):
    """What the schema is called."""

    schema_name: str | None = key(HIGH, default=None, doc="New name of the schema.")
    schema_version: int | None = key(HIGH, default=None, doc="New version of the schema.")
    replace_null: bool = shared_key(REPLACE_NULL_KEY)


class SetSchemaMetadata(SidedTransformation):
    """Renames the schema of a struct."""

    def __init__(self, side: Side) -> None:
        super().__init__(side)
        self._schemas = BoundedCache(16, self._updated)

    def configure(self, config: Config) -> None:
        """Use the name and version."""
        settings = SetSchemaMetadataSettings.parse(config)
        self._name, self._version = settings.schema_name, settings.schema_version
        if self._name is None and self._version is None:
            raise ConfigError("Neither schema name nor version configured")
        self._replace_null = settings.replace_null

    def change(
        self, record: ConnectRecord, schema: Schema | None, value: ConnectValue, *, owned: bool = False
    ) -> tuple[Schema | None, ConnectValue]:
        """Return the side under its new schema; null without a schema stays untouched."""
        del record, owned
        if value is None and schema is None:
            return None, None
        known = require_schema(schema, _PURPOSE)
        if known.type is not SchemaType.STRUCT:
            # Kafka Connect 4.4 fails on anything but structs, in just these words.
            raise DataError("Cannot list fields on non-struct type")
        updated = self._schemas.get(known)
        if not isinstance(value, Struct):
            return updated, value
        result = Struct(updated)
        for field in updated.fields:
            result.put(field, read_field(value, field, replace_null=self._replace_null))
        return updated, result

    def _updated(self, schema: Schema) -> Schema:
        name = schema.name if self._name is None else self._name
        version = schema.version if self._version is None else self._version
        updated = replace(schema, name=name, version=version)
        if isinstance(schema.default, Struct) and schema.type is SchemaType.STRUCT:
            default = Struct(updated)
            default.values = list(schema.default.values)
            return replace(updated, default=default)
        return updated


PLUGINS = sided_plugins(
    SetSchemaMetadata,
    "SetSchemaMetadata",
    "Gives the schema another name or version.",
    SetSchemaMetadataSettings.config_def(),
    {"A name": {"schema.name": "com.example.Order", "schema.version": "2"}},
)
