"""LogSource as the engine finds it."""

from __future__ import annotations

from copycat_connect.plugin import PluginKind, PluginSpec

from copycat_plugins.connectors.log_source import settings
from copycat_plugins.connectors.log_source.connector import LogSourceConnector
from copycat_plugins.connectors.log_source.task import LogSourceTask
from copycat_plugins.version import VERSION

PLUGIN = PluginSpec(
    class_name=settings.CLASS_NAME,
    kind=PluginKind.SOURCE,
    version=VERSION,
    summary=settings.SUMMARY,
    config=settings.LogSourceSettings.config_def(),
    factory=LogSourceConnector,
    task_class_name=settings.TASK_CLASS_NAME,
    task_factory=LogSourceTask,
    guarantees=settings.GUARANTEES,
    tested_with="files on Linux, rotated, truncated and compressed",
    examples=settings.EXAMPLES,
)
