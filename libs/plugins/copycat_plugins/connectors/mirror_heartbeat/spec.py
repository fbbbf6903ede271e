"""MirrorHeartbeat: what it is called and how it is configured."""

from __future__ import annotations

from copycat_connect.config import ConfigDef

from copycat_plugins.connectors.mirror import keys

CLASS_NAME = f"{keys.PACKAGE}.MirrorHeartbeatConnector"
TASK_CLASS_NAME = f"{keys.PACKAGE}.MirrorHeartbeatTask"

EMIT, INTERVAL = "emit.heartbeats.enabled", "emit.heartbeats.interval.seconds"
REPLICATION = "heartbeats.topic.replication.factor"

SOURCE, TARGET = "sourceClusterAlias", "targetClusterAlias"
"""The keys of a source partition."""

SUMMARY = "Writes a heartbeat to the target every second, from which readers see that a mirror is alive."
GUARANTEES = (
    "At least once. The topic is heartbeats, with one partition. The source partition is "
    "{sourceClusterAlias, targetClusterAlias}, the source offset always {offset: 0}."
)
CONFIG = ConfigDef(
    *keys.BASE,
    keys.switch(EMIT, "heartbeats are written"),
    keys.interval(INTERVAL, 1, "a heartbeat is written"),
    keys.replication_factor(REPLICATION, "heartbeats"),
)
EXAMPLES = {
    "A heartbeat every five seconds": {
        "source.cluster.alias": "berlin",
        "target.cluster.alias": "paris",
        "target.cluster.bootstrap.servers": "localhost:9092",
        "emit.heartbeats.interval.seconds": "5",
        "heartbeats.topic.replication.factor": "1",
        **keys.BYTES,
    }
}
