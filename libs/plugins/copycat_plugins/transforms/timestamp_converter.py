"""TimestampConverter: changes the form of points in time."""

from __future__ import annotations

from copycat_connect.bounded_cache import BoundedCache
from copycat_connect.cluster import Config
from copycat_connect.config import HIGH, LOW, MEDIUM, one_of
from copycat_connect.config.settings import Settings, key, shared_key
from copycat_connect.data import ConnectRecord, ConnectValue, Schema, Struct
from copycat_connect.errors import ConfigError
from copycat_connect.values.date_pattern import DatePattern

from copycat_plugins.transforms.fields import (
    REPLACE_NULL_KEY,
    paired,
    read_field,
    require_map,
    require_struct,
    start_like,
)
from copycat_plugins.transforms.sides import Side, SidedTransformation, sided_plugins
from copycat_plugins.transforms.timestamp_formats import (
    NAMES,
    PRECISIONS,
    SCHEMAS,
    TimestampFormats,
    form_of,
)

_PURPOSE = "converting timestamp formats"


class TimestampConverterSettings(Settings):
    """Which point in time is converted, and to what."""

    field: str = key(HIGH, default="", doc="The field; empty for the whole key or value.")
    target_type: str = key(
        HIGH,
        check=one_of(*NAMES),
        doc="New form: string, unix (a number), Date, Time or Timestamp.",
    )
    format: str = key(
        MEDIUM,
        default="",
        doc="How text is read and written, in UTC, by the letters of Java's SimpleDateFormat.",
    )
    unix_precision: str = key(
        LOW,
        default="milliseconds",
        check=one_of(*PRECISIONS),
        doc="Unit of numbers: nanoseconds, microseconds, milliseconds or seconds.",
    )
    replace_null: bool = shared_key(REPLACE_NULL_KEY)


class TimestampConverter(SidedTransformation):
    """Converts one field, or the whole side."""

    def __init__(self, side: Side) -> None:
        super().__init__(side)
        self._schemas = BoundedCache(16, self._updated)

    def configure(self, config: Config) -> None:
        """Use the field and its new form."""
        settings = TimestampConverterSettings.parse(config)
        self._field = settings.field
        self._target = settings.target_type
        self._replace_null = settings.replace_null
        text = settings.format
        if self._target == "string" and not text.strip():
            raise ConfigError(
                "TimestampConverter requires format option to be specified when using string timestamps"
            )
        self._formats = TimestampFormats(text, _pattern(text), settings.unix_precision)

    def change(
        self, record: ConnectRecord, schema: Schema | None, value: ConnectValue, *, owned: bool = False
    ) -> tuple[Schema | None, ConnectValue]:
        """Return the side in its new form."""
        del record, owned
        if self._field and schema is not None and value is not None:
            require_struct(value, _PURPOSE, schema)
        updated = None if schema is None else self._schemas.get(schema)
        if not self._field:
            return updated, self._convert(schema, value)
        if value is None:
            return updated, None
        if schema is None or updated is None:
            fields = require_map(value, _PURPOSE)
            return None, {**fields, self._field: self._convert(None, fields.get(self._field))}
        return updated, self._converted(require_struct(value, _PURPOSE, schema), schema, updated)

    def _convert(self, schema: Schema | None, value: ConnectValue) -> ConnectValue:
        if schema is None and value is None:
            return None
        # Also of null the schema must be one of a point in time.
        return self._formats.convert(value, form_of(schema, value), self._target)

    def _updated(self, schema: Schema) -> Schema:
        if not self._field:
            return SCHEMAS[self._target][schema.optional]
        fields = (
            (
                field.name,
                SCHEMAS[self._target][field.schema.optional] if field.name == self._field else field.schema,
            )
            for field in schema.fields
        )
        builder = start_like(schema)
        for name, field_schema in fields:
            builder.field(name, field_schema)
        if schema.optional:
            builder.optional()
        if schema.default is None:
            return builder.build()
        return builder.default_value(
            self._converted(schema.default, schema.default.schema, builder.build())
        ).build()

    def _converted(self, struct: Struct, schema: Schema, updated: Schema) -> Struct:
        result = Struct(updated)
        for field, target in paired(struct, schema, updated):
            item = read_field(struct, field, replace_null=self._replace_null)
            changed = self._convert(field.schema, item) if field.name == self._field else item
            result.put(target or field.name, changed)
        return result


def _pattern(text: str) -> DatePattern | None:
    if not text.strip():
        return None
    try:
        return DatePattern(text)
    except ConfigError as error:
        # Kafka Connect gives the texts in this order: its ConfigException takes a name first.
        raise ConfigError(
            f"Invalid value java.lang.IllegalArgumentException: {error.message} for configuration "
            f"TimestampConverter requires a SimpleDateFormat-compatible pattern for string timestamps: {text}"
        ) from error


PLUGINS = sided_plugins(
    TimestampConverter,
    "TimestampConverter",
    "Changes the form of points in time.",
    TimestampConverterSettings.config_def(),
    {
        "Text from milliseconds": {
            "field": "at",
            "target.type": "string",
            "format": "yyyy-MM-dd'T'HH:mm:ss.SSS'Z'",
        },
        "Timestamp from seconds": {"field": "at", "target.type": "Timestamp", "unix.precision": "seconds"},
    },
)
