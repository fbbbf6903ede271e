"""DatagenSource as the engine finds it."""

from __future__ import annotations

from copycat_connect.plugin import PluginKind, PluginSpec

from copycat_plugins.connectors.datagen_source import spec
from copycat_plugins.connectors.datagen_source.connector import DatagenSourceConnector
from copycat_plugins.connectors.datagen_source.task import DatagenSourceTask
from copycat_plugins.version import VERSION

PLUGIN = PluginSpec(
    class_name=spec.CLASS_NAME,
    kind=PluginKind.SOURCE,
    version=VERSION,
    summary=spec.SUMMARY,
    config=spec.DatagenSettings.config_def(),
    factory=DatagenSourceConnector,
    task_class_name=spec.TASK_CLASS_NAME,
    task_factory=DatagenSourceTask,
    guarantees=spec.GUARANTEES,
    tested_with="nothing: it makes its records up",
    examples=spec.EXAMPLES,
)
