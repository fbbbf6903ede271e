"""VerifiableSink as the engine finds it."""

from __future__ import annotations

from copycat_connect.kafka_version import KAFKA_VERSION
from copycat_connect.plugin import PluginKind, PluginSpec

from copycat_plugins.connectors.verifiable_sink import spec
from copycat_plugins.connectors.verifiable_sink.connector import VerifiableSinkConnector
from copycat_plugins.connectors.verifiable_sink.task import VerifiableSinkTask

PLUGIN = PluginSpec(
    class_name=spec.CLASS_NAME,
    kind=PluginKind.SINK,
    version=KAFKA_VERSION,
    summary=spec.SUMMARY,
    config=spec.CONFIG,
    factory=VerifiableSinkConnector,
    task_class_name=spec.TASK_CLASS_NAME,
    task_factory=VerifiableSinkTask,
    guarantees=spec.GUARANTEES,
    tested_with="nothing",
    examples=spec.EXAMPLES,
)
