"""JdbcSink as the engine finds it; drivers are loaded where one is made, not where plugins are listed."""

from __future__ import annotations

from copycat_connect.plugin import PluginKind, PluginSpec

from copycat_jdbc.errors import FAILURES
from copycat_jdbc.sink import settings
from copycat_jdbc.version import VERSION

PLUGIN = PluginSpec(
    class_name=settings.CLASS_NAME,
    kind=PluginKind.SINK,
    version=VERSION,
    summary=settings.SUMMARY,
    config=settings.JdbcSinkSettings.config_def(),
    factory="copycat_jdbc.sink.connector:JdbcSinkConnector",
    task_class_name=settings.TASK_CLASS_NAME,
    task_factory="copycat_jdbc.sink.task:JdbcSinkTask",
    guarantees=settings.GUARANTEES,
    tested_with="PostgreSQL 15, MariaDB 10.11 and SQLite 3, as Debian and Python have them",
    failures=FAILURES,
    examples=settings.EXAMPLES,
)
