"""KIP-26's JDBCSource: its keys, and how the engine finds it; drivers are loaded where one is made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from copycat_connect.config import INT, LOW, ConfigDef, ConfigKey, at_least
from copycat_connect.plugin import PluginKind, PluginSpec

from copycat_jdbc.errors import FAILURES
from copycat_jdbc.settings import URL
from copycat_jdbc.source import settings as published
from copycat_jdbc.version import VERSION

_CLASS_NAME = "org.apache.kafka.copycat.JDBCSourceConnector"
_TASK_CLASS_NAME = "org.apache.kafka.copycat.JDBCSourceTask"
TASKS_MAX = "connector.tasks.max"
CONNECTION, WHITELIST, PREFIX = "jdbc.connection", "jdbc.table.whitelist", "jdbc.topic.prefix"
PUBLISHED_NAMES: Final[Mapping[str, str]] = {
    CONNECTION: URL,
    WHITELIST: published.WHITELIST,
    PREFIX: published.TOPIC_PREFIX,
}
"""The sample's keys, with the published connector's."""
DEFAULT_MODE: Final = published.Mode.INCREMENTING.value

_SUMMARY = "Reads the tables of a database with the keys of KIP-26's sample."
_GUARANTEES = (
    "As JdbcSourceConnector, whose keys it has but for three names. Without `mode` it is incrementing by the "
    "column that the database counts up itself."
)
_OWN: Final = {theirs: own for own, theirs in PUBLISHED_NAMES.items()}
_EXAMPLES = {
    "The sample of KIP-26": {
        TASKS_MAX: "20",
        CONNECTION: "jdbc:postgresql://localhost:5432/my-database?user=reader&password=${env:SHOP_PASSWORD}",
        WHITELIST: "some_table",
        PREFIX: "my-database-",
    }
}


def _own_key(key: ConfigKey) -> ConfigKey:
    if key.name == published.MODE:
        return replace(key, default=DEFAULT_MODE)
    name = _OWN.get(key.name, key.name)
    return replace(key, name=name, display_name=name)


CONFIG = ConfigDef(
    ConfigKey(
        TASKS_MAX, INT, LOW, default=1, validator=at_least(1),
        doc="KIP-26's name of tasks.max, which comes before it.",
    ),
    *map(_own_key, published.JdbcSourceSettings.config_def().keys.values()),
)  # fmt: skip

PLUGIN = PluginSpec(
    class_name=_CLASS_NAME,
    kind=PluginKind.SOURCE,
    version=VERSION,
    summary=_SUMMARY,
    config=CONFIG,
    factory="copycat_jdbc.kip26.connector:JDBCSourceConnector",
    task_class_name=_TASK_CLASS_NAME,
    task_factory="copycat_jdbc.source.task:JdbcSourceTask",
    guarantees=_GUARANTEES,
    tested_with="PostgreSQL 15, as Debian has it",
    failures=FAILURES,
    examples=_EXAMPLES,
)
