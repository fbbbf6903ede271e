"""The keys of SparkSql."""

from __future__ import annotations

from copycat_connect.config import HIGH, LOW, non_empty
from copycat_connect.config.settings import Settings, key

from copycat_plugins.transforms.schema_ddl import schema_ddl

SQL = "sql"


class SparkSqlSettings(Settings):
    """The query, and the types of what it reads."""

    sql: str = key(
        HIGH,
        name=SQL,
        check=non_empty,
        doc="SELECT ... FROM records [WHERE ...] over the columns value, key, topic, timestamp and headers. "
        "It gives one row for a record, or none, which drops it. Columns named key, topic and timestamp "
        "change those parts; one named value is the value, else all others are its fields.",
    )
    value_schema: str = key(
        HIGH,
        check=schema_ddl,
        doc="Schema of the values in Spark's DDL, such as id BIGINT, tags ARRAY<STRING>, or STRING. Fields "
        "that a value does not have are null.",
    )
    key_schema: str = key(LOW, default="STRING", check=schema_ddl, doc="Schema of the keys, likewise.")
