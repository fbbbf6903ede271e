"""Flatten: fields of nested structs or maps move to the top, their names joined."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from copycat_connect.bounded_cache import BoundedCache
from copycat_connect.cluster import Config
from copycat_connect.config import MEDIUM
from copycat_connect.config.settings import Settings, key
from copycat_connect.data import (
    ConnectRecord,
    ConnectValue,
    Schema,
    SchemaBuilder,
    SchemaType,
    Struct,
)
from copycat_connect.data.java import class_text
from copycat_connect.errors import DataError

from copycat_plugins.transforms.fields import copy_metadata, require_map, require_struct, start_like
from copycat_plugins.transforms.sides import Side, SidedTransformation, sided_plugins

_PURPOSE = "flattening"
_SCHEMALESS = (bool, int, float, str, bytes, bytearray, memoryview, list)


class FlattenSettings(Settings):
    """How names are joined."""

    delimiter: str = key(MEDIUM, default=".", doc="Stands between the names that are joined.")


class Flatten(SidedTransformation):
    """Flattens structs and schemaless maps; lists stay as they are."""

    def __init__(self, side: Side) -> None:
        super().__init__(side)
        self._schemas = BoundedCache(16, self._flat_schema)

    def configure(self, config: Config) -> None:
        """Read the delimiter between the names of a path."""
        self._delimiter = FlattenSettings.parse(config).delimiter

    def change(
        self, record: ConnectRecord, schema: Schema | None, value: ConnectValue, *, owned: bool = False
    ) -> tuple[Schema | None, ConnectValue]:
        """Return the flat side; null stays untouched."""
        del record, owned
        if value is None:
            return schema, None
        if schema is None:
            return None, dict(self._flat_items("", require_map(value, _PURPOSE)))
        struct = require_struct(value, _PURPOSE, schema)
        updated = self._schemas.get(schema)
        result = Struct(updated)
        for name, item in self._flat_fields("", struct):
            result.put(name, item)
        return updated, result

    def _join(self, prefix: str, name: str) -> str:
        return f"{prefix}{self._delimiter}{name}" if prefix else name

    def _flat_items(
        self, prefix: str, fields: Mapping[ConnectValue, ConnectValue]
    ) -> Iterator[tuple[str, ConnectValue]]:
        for own, item in fields.items():
            name = self._join(prefix, own)
            if isinstance(item, dict):
                yield from self._flat_items(name, item)
            elif item is None or isinstance(item, _SCHEMALESS):
                yield name, item
            else:
                raise _unsupported(name, item)

    def _flat_fields(self, prefix: str, struct: Struct) -> Iterator[tuple[str, ConnectValue]]:
        for field in struct.schema.fields:
            name, item = self._join(prefix, field.name), struct.get(field)
            if field.schema.type is not SchemaType.STRUCT:
                yield name, item
            elif item is not None:
                yield from self._flat_fields(name, item)

    def _flat_schema(self, schema: Schema) -> Schema:
        builder = start_like(schema)
        self._add_fields(builder, "", schema, optional=schema.optional, default=schema.default)
        return builder.build()

    def _add_fields(
        self, builder: SchemaBuilder, prefix: str, schema: Schema, *, optional: bool, default: Struct | None
    ) -> None:
        for field in schema.fields:
            name = self._join(prefix, field.name)
            own = field.schema.default
            inherited = own if own is not None or default is None else default.get(field)
            may_be_null = optional or field.schema.optional
            if field.schema.type is SchemaType.STRUCT:
                self._add_fields(builder, name, field.schema, optional=may_be_null, default=inherited)
            elif field.schema.type is SchemaType.MAP:
                raise DataError(
                    f"Flatten transformation does not support {field.schema.type} for record with schemas "
                    f"(for field {name})."
                )
            else:
                builder.field(name, _leaf(field.schema, optional=may_be_null, default=inherited))


def _leaf(schema: Schema, *, optional: bool, default: ConnectValue) -> Schema:
    start = (
        SchemaBuilder.array(schema.value) if schema.type is SchemaType.ARRAY else SchemaBuilder(schema.type)
    )
    builder = copy_metadata(schema, start)
    if optional:
        builder.optional()
    if default is not None:
        builder.default_value(default)
    return builder.build()


def _unsupported(name: str, item: ConnectValue) -> DataError:
    if isinstance(item, Struct):
        return DataError(
            f"Flatten transformation does not support {class_text(item)} for record without schemas "
            f"(for field {name})."
        )
    return DataError(
        f"Flatten transformation was passed a value of type {class_text(item)} "
        "which is not supported by Connect's data API"
    )


PLUGINS = sided_plugins(
    Flatten,
    "Flatten",
    "Moves nested fields to the top, their names joined.",
    FlattenSettings.config_def(),
    {"Joined by underscores": {"delimiter": "_"}},
)
