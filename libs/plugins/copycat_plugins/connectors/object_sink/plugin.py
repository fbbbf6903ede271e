"""ObjectSink as the engine finds it; Arrow and Avro are loaded where one is made, not by a listing."""

from __future__ import annotations

from copycat_connect.plugin import PluginKind, PluginSpec

from copycat_plugins.connectors.made_later import made_later
from copycat_plugins.connectors.object_sink import spec
from copycat_plugins.connectors.stores.errors import FAILURES
from copycat_plugins.version import VERSION

PLUGIN = PluginSpec(
    class_name=spec.CLASS_NAME,
    kind=PluginKind.SINK,
    version=VERSION,
    summary=spec.SUMMARY,
    config=spec.CONFIG,
    factory=made_later("copycat_plugins.connectors.object_sink.connector", "ObjectSinkConnector"),
    task_class_name=spec.TASK_CLASS_NAME,
    task_factory=made_later("copycat_plugins.connectors.object_sink.connector", "new_task"),
    guarantees=spec.GUARANTEES,
    tested_with="folders on Linux, HDFS 3.5.0 over WebHDFS, and S3 as moto simulates it",
    examples=spec.EXAMPLES,
    failures=FAILURES,
)
