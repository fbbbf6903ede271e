"""MirrorHeartbeat: what it is called and how it is configured."""

from __future__ import annotations

from copycat_mirror import settings

CLASS_NAME = f"{settings.PACKAGE}.MirrorHeartbeatConnector"
TASK_CLASS_NAME = f"{settings.PACKAGE}.MirrorHeartbeatTask"

REPLICATION = "heartbeats.topic.replication.factor"

SOURCE, TARGET = "sourceClusterAlias", "targetClusterAlias"
"""The keys of a source partition."""

SUMMARY = "Writes a heartbeat to the target every second, from which readers see that a mirror is alive."
GUARANTEES = (
    "At least once. The topic is heartbeats, with one partition. The source partition is "
    "{sourceClusterAlias, targetClusterAlias}, the source offset always {offset: 0}."
)


class MirrorHeartbeatSettings(settings.MirrorSettings):
    """How often heartbeats are written."""

    emit_heartbeats_enabled: bool = settings.switch("heartbeats are written")
    emit_heartbeats_interval_seconds: int = settings.interval(1, "a heartbeat is written")
    heartbeats_topic_replication_factor: int = settings.replication_factor(REPLICATION, "heartbeats")


EXAMPLES = {
    "A heartbeat every five seconds": {
        "source.cluster.alias": "berlin",
        "target.cluster.alias": "paris",
        "target.cluster.bootstrap.servers": "localhost:9092",
        "emit.heartbeats.interval.seconds": "5",
        "heartbeats.topic.replication.factor": "1",
        **settings.BYTES,
    }
}
