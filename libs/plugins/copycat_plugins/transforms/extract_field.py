"""ExtractField: one field takes the place of the whole key or value."""

from __future__ import annotations

from copycat_connect.cluster import Config
from copycat_connect.config import HIGH, MEDIUM, STRING, ConfigDef, ConfigKey, one_of_ignoring_case
from copycat_connect.data import ConnectRecord, ConnectValue, Schema
from copycat_connect.errors import DataError

from copycat_plugins.transforms.field_path import field_at, split_path, value_in_map, value_in_struct
from copycat_plugins.transforms.fields import REPLACE_NULL, REPLACE_NULL_KEY
from copycat_plugins.transforms.requirements import require_map, require_struct
from copycat_plugins.transforms.sides import SidedTransformation, sided_plugins

FIELD = "field"
SYNTAX = "field.syntax.version"
_PURPOSE = "field extraction"
CONFIG = ConfigDef(
    ConfigKey(FIELD, STRING, MEDIUM, doc="The field; with syntax V2 a path such as address.`post.code`."),
    REPLACE_NULL_KEY,
    ConfigKey(
        SYNTAX,
        STRING,
        HIGH,
        default="V1",
        validator=one_of_ignoring_case("V1", "V2"),
        doc="V1 takes the field for one name, V2 for a path whose steps are separated by dots.",
    ),
)


class ExtractField(SidedTransformation):
    """Takes one field out of a struct or map."""

    def configure(self, config: Config) -> None:
        """Read the field's name or, in syntax V2, its path."""
        parsed = CONFIG.parse(config)
        self._field: str = parsed[FIELD]
        self._steps = split_path(self._field, nested=parsed[SYNTAX].upper() == "V2")
        self._is_empty = not self._field and parsed[SYNTAX].upper() == "V2"
        self._replace_null: bool = parsed[REPLACE_NULL]

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
            message = f"Unknown field: {self._field}"
            raise DataError(message)
        if struct is None:
            return field.schema, None
        return field.schema, value_in_struct(struct, self._steps, replace_null=self._replace_null)


PLUGINS = sided_plugins(
    ExtractField,
    "ExtractField",
    "Replaces the key or value by one of its fields.",
    CONFIG,
    {"The id as key": {FIELD: "id"}, "A nested field": {FIELD: "customer.id", SYNTAX: "V2"}},
)
