"""HeaderFrom: copies or moves fields into headers."""

from __future__ import annotations

from typing import TypeVar

from copycat_connect.bounded_cache import BoundedCache
from copycat_connect.cluster import Config
from copycat_connect.config import HIGH, non_empty_list, one_of
from copycat_connect.config.settings import Settings, key, shared_key
from copycat_connect.data import ConnectRecord, ConnectValue, Headers, Schema, Struct
from copycat_connect.errors import ConfigError, DataError
from copycat_connect.plugin import Transformation

from copycat_plugins.transforms.fields import (
    REPLACE_NULL_KEY,
    read_field,
    require_map,
    require_struct,
    with_fields,
)
from copycat_plugins.transforms.sides import Side, sided_plugins

R = TypeVar("R", bound=ConnectRecord)
_MOVE = "move"


class HeaderFromSettings(Settings):
    """Which fields become headers."""

    fields: tuple[str, ...] = key(HIGH, check=non_empty_list, doc="The fields.")
    headers: tuple[str, ...] = key(
        HIGH, check=non_empty_list, doc="A header's name for each field, in order."
    )
    operation: str = key(
        HIGH,
        check=one_of(_MOVE, "copy"),
        doc="move takes the fields out of the key or value, copy leaves them.",
    )
    replace_null: bool = shared_key(REPLACE_NULL_KEY)


class HeaderFrom(Transformation):
    """Appends a header for each field."""

    def __init__(self, side: Side) -> None:
        self._side = side
        self._schemas = BoundedCache(16, self._without_moved)

    def configure(self, config: Config) -> None:
        """Use the fields and their headers."""
        settings = HeaderFromSettings.parse(config)
        if len(settings.fields) != len(settings.headers):
            raise ConfigError("'fields' config must have the same number of elements as 'headers' config.")
        self._pairs = list(zip(settings.fields, settings.headers, strict=True))
        self._moved = frozenset(settings.fields if settings.operation == _MOVE else ())
        self._purpose = f"header {settings.operation}"
        self._replace_null = settings.replace_null

    def apply(self, record: R) -> R | None:
        """Return the record with more headers, and without the fields that moved."""
        schema, value = self._side.schema(record), self._side.value(record)
        headers = record.headers.duplicate()
        if schema is None:
            left = self._schemaless(value, headers)
        else:
            schema, left = self._with_schema(schema, value, headers)
        updated = self._side.update(record, schema, left)
        updated.headers = headers
        return updated

    def _schemaless(self, value: ConnectValue, headers: Headers) -> ConnectValue:
        fields = require_map(value, self._purpose)
        for name, header in self._pairs:
            headers.add(header, fields.get(name))
        return {name: item for name, item in fields.items() if name not in self._moved}

    def _with_schema(
        self, schema: Schema, value: ConnectValue, headers: Headers
    ) -> tuple[Schema, ConnectValue]:
        struct = require_struct(value, self._purpose, schema)
        result = self._left(schema, struct) if self._moved else (schema, struct)
        for name, header in self._pairs:
            field, own = schema.field(name), struct.schema.field(name)
            if field is None:
                raise _no_field(name)
            item = None if own is None else read_field(struct, own, replace_null=self._replace_null)
            headers.add(header, item, field.schema)
        return result

    def _left(self, schema: Schema, struct: Struct) -> tuple[Schema, ConnectValue]:
        updated = self._schemas.get(schema)
        left = Struct(updated)
        for target in updated.fields:
            field = struct.schema.field(target.name)
            if field is None:
                raise _no_field(target.name)
            left.put(target, read_field(struct, field, replace_null=self._replace_null))
        return updated, left

    def _without_moved(self, schema: Schema) -> Schema:
        kept = ((field.name, field.schema) for field in schema.fields if field.name not in self._moved)
        return with_fields(schema, kept)


def _no_field(name: str) -> DataError:
    return DataError(f"{name} is not a valid field name")


PLUGINS = sided_plugins(
    HeaderFrom,
    "HeaderFrom",
    "Copies or moves fields into headers.",
    HeaderFromSettings.config_def(),
    {"The tenant as header": {"fields": "tenant", "headers": "x-tenant", "operation": _MOVE}},
)
