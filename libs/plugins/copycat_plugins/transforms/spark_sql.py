"""SparkSql: a SELECT over the records, run by Spark a batch at a time."""

from __future__ import annotations

from copycat_connect.config import HIGH, LOW, non_empty
from copycat_connect.config.settings import Settings, key
from copycat_connect.plugin import PluginKind, PluginSpec

from copycat_plugins.transforms.schema_ddl import schema_ddl
from copycat_plugins.version import VERSION

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


PLUGIN = PluginSpec(
    class_name=f"{__name__}.SparkSql",
    kind=PluginKind.TRANSFORMATION,
    version=VERSION,
    summary="Runs a SELECT over the records by Spark, a batch at a time.",
    config=SparkSqlSettings.config_def(),
    factory="copycat_plugins.transforms.spark_sql_step:SparkSqlStep",
    guarantees="One row or none for each record, in order; a record's offset counts with its row. What Spark "
    "cannot compute for a record fails that record at stage TRANSFORMATION. The value's schema is that of "
    "the query's columns.",
    examples={
        "Large orders, renamed": {
            SQL: "SELECT value.id AS order_id, value.name FROM records WHERE value.amount > 100",
            "value.schema": "id BIGINT, name STRING, amount DOUBLE",
        },
        "Lines of text to topics by their first word": {
            SQL: "SELECT value, concat('log-', split(value, ' ')[0]) AS topic FROM records WHERE value <> ''",
            "value.schema": "STRING",
        },
    },
)
