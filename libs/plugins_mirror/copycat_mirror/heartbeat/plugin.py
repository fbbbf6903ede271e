"""MirrorHeartbeat: its keys, and how the engine finds it; Kafka's client is loaded where one is made."""

from __future__ import annotations

from copycat_connect.kafka_version import KAFKA_VERSION
from copycat_connect.plugin import PluginKind, PluginSpec

from copycat_mirror import settings

_CLASS_NAME = f"{settings.PACKAGE}.MirrorHeartbeatConnector"
_TASK_CLASS_NAME = f"{settings.PACKAGE}.MirrorHeartbeatTask"

REPLICATION = "heartbeats.topic.replication.factor"

SOURCE, TARGET = "sourceClusterAlias", "targetClusterAlias"
"""The keys of a source partition."""

_SUMMARY = "Writes a heartbeat to the target every second, from which readers see that a mirror is alive."
_GUARANTEES = (
    "At least once. The topic is heartbeats, with one partition. The source partition is "
    "{sourceClusterAlias, targetClusterAlias}, the source offset always {offset: 0}."
)
_EXAMPLES = {
    "A heartbeat every five seconds": {
        "source.cluster.alias": "berlin",
        "target.cluster.alias": "paris",
        "target.cluster.bootstrap.servers": "localhost:9092",
        "emit.heartbeats.interval.seconds": "5",
        "heartbeats.topic.replication.factor": "1",
        **settings.BYTES,
    }
}


class MirrorHeartbeatSettings(settings.MirrorSettings):
    """How often heartbeats are written."""

    emit_heartbeats_enabled: bool = settings.switch("heartbeats are written")
    emit_heartbeats_interval_seconds: int = settings.interval(1, "a heartbeat is written")
    heartbeats_topic_replication_factor: int = settings.replication_factor(REPLICATION, "heartbeats")


PLUGIN = PluginSpec(
    class_name=_CLASS_NAME,
    kind=PluginKind.SOURCE,
    version=KAFKA_VERSION,
    summary=_SUMMARY,
    config=MirrorHeartbeatSettings.config_def(),
    factory="copycat_mirror.heartbeat.connector:MirrorHeartbeatConnector",
    task_class_name=_TASK_CLASS_NAME,
    task_factory="copycat_mirror.heartbeat.connector:MirrorHeartbeatTask",
    guarantees=_GUARANTEES,
    tested_with="brokers of Apache Kafka 4.4.0, MirrorMaker 2 of 4.3.1",
    examples=_EXAMPLES,
)
