"""MirrorCheckpoint as the engine finds it; Kafka's client is loaded where one is made, not by a listing."""

from __future__ import annotations

from copycat_connect.kafka_version import KAFKA_VERSION
from copycat_connect.plugin import PluginKind, PluginSpec

from copycat_mirror.checkpoint import settings

PLUGIN = PluginSpec(
    class_name=settings.CLASS_NAME,
    kind=PluginKind.SOURCE,
    version=KAFKA_VERSION,
    summary=settings.SUMMARY,
    config=settings.MirrorCheckpointSettings.config_def(),
    factory="copycat_mirror.checkpoint.connector:MirrorCheckpointConnector",
    task_class_name=settings.TASK_CLASS_NAME,
    task_factory="copycat_mirror.checkpoint.task:MirrorCheckpointTask",
    guarantees=settings.GUARANTEES,
    tested_with="brokers of Apache Kafka 4.4.0, MirrorMaker 2 of 4.3.1",
    examples=settings.EXAMPLES,
)
