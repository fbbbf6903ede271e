"""KIP-26's JDBCSource as the engine finds it; drivers are loaded where one is made, not by a listing."""

from __future__ import annotations

from copycat_connect.plugin import PluginKind, PluginSpec

from copycat_jdbc.errors import FAILURES
from copycat_jdbc.kip26 import settings
from copycat_jdbc.version import VERSION

PLUGIN = PluginSpec(
    class_name=settings.CLASS_NAME,
    kind=PluginKind.SOURCE,
    version=VERSION,
    summary=settings.SUMMARY,
    config=settings.CONFIG,
    factory="copycat_jdbc.kip26.connector:JDBCSourceConnector",
    task_class_name=settings.TASK_CLASS_NAME,
    task_factory="copycat_jdbc.source.task:JdbcSourceTask",
    guarantees=settings.GUARANTEES,
    tested_with="PostgreSQL 15, as Debian has it",
    failures=FAILURES,
    examples=settings.EXAMPLES,
)
