"""LogSource as the engine finds it."""

from __future__ import annotations

from copycat_connect.plugin import PluginKind, PluginSpec

from copycat_plugins.connectors.log_source import spec
from copycat_plugins.connectors.log_source.connector import LogSourceConnector
from copycat_plugins.connectors.log_source.task import LogSourceTask
from copycat_plugins.version import VERSION

PLUGIN = PluginSpec(
    class_name=spec.CLASS_NAME,
    kind=PluginKind.SOURCE,
    version=VERSION,
    summary=spec.SUMMARY,
    config=spec.CONFIG,
    factory=LogSourceConnector,
    task_class_name=spec.TASK_CLASS_NAME,
    task_factory=LogSourceTask,
    guarantees=spec.GUARANTEES,
    tested_with="files on Linux, rotated, truncated and compressed",
    examples=spec.EXAMPLES,
)
