"""The keys of SparkSql."""

from __future__ import annotations

from copycat_connect.config import HIGH, LOW, STRING, ConfigDef, ConfigKey, non_empty

from copycat_plugins.transforms.schema_ddl import schema_ddl

SQL = "sql"
VALUE_SCHEMA = "value.schema"
KEY_SCHEMA = "key.schema"
CONFIG = ConfigDef(
    ConfigKey(
        SQL,
        STRING,
        HIGH,
        validator=non_empty,
        doc="SELECT ... FROM records [WHERE ...] over the columns value, key, topic, timestamp and headers. "
        "It gives one row for a record, or none, which drops it. Columns named key, topic and timestamp "
        "change those parts; one named value is the value, else all others are its fields.",
    ),
    ConfigKey(
        VALUE_SCHEMA,
        STRING,
        HIGH,
        validator=schema_ddl,
        doc="Schema of the values in Spark's DDL, such as id BIGINT, tags ARRAY<STRING>, or STRING. Fields "
        "that a value does not have are null.",
    ),
    ConfigKey(
        KEY_SCHEMA,
        STRING,
        LOW,
        default="STRING",
        validator=schema_ddl,
        doc="Schema of the keys, likewise.",
    ),
)
