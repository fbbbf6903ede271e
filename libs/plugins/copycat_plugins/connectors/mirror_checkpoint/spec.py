"""MirrorCheckpoint: what it is called and how it is configured."""

from __future__ import annotations

from copycat_connect.config import CLASS, HIGH, LIST, LOW, ConfigDef, ConfigKey, one_of

from copycat_plugins.connectors.mirror import keys
from copycat_plugins.connectors.mirror.filters import patterns

CLASS_NAME = f"{keys.PACKAGE}.MirrorCheckpointConnector"
TASK_CLASS_NAME = f"{keys.PACKAGE}.MirrorCheckpointTask"

GROUPS, GROUPS_EXCLUDE, GROUP_FILTER = "groups", "groups.exclude", "group.filter.class"
DEFAULT_GROUP_FILTER = f"{keys.PACKAGE}.DefaultGroupFilter"
REFRESH, REFRESH_INTERVAL = "refresh.groups.enabled", "refresh.groups.interval.seconds"
EMIT, EMIT_INTERVAL = "emit.checkpoints.enabled", "emit.checkpoints.interval.seconds"
SYNC, SYNC_INTERVAL = "sync.group.offsets.enabled", "sync.group.offsets.interval.seconds"
REPLICATION = "checkpoints.topic.replication.factor"

ASSIGNED = "task.assigned.groups"
"""A task's key: its groups, as MirrorMaker writes them, separated by commas."""
INDEX = "task.index"
TASK_TOPICS = "task.topics"
"""A task's key: the connector's `topics`."""

GROUP, TOPIC, PARTITION = "group", "topic", "partition"
"""The keys of a source partition."""

SUMMARY = "Writes where consumer groups of the source go on at the target, and moves their offsets there."
GUARANTEES = (
    "At least once; a checkpoint never lets a group skip a record, it may read some again. The source "
    "partition is {group, partition, topic}, the source offset always {offset: 0}: what was written last is "
    "read from the topic of checkpoints. It needs the offset syncs of a MirrorSourceConnector between the "
    "same clusters, and takes its keys topics and topics.exclude, too."
)
CONFIG = ConfigDef(
    *keys.BASE,
    keys.POLL_TIMEOUT_KEY,
    ConfigKey(
        GROUPS, LIST, HIGH, default=".*", validator=patterns,
        doc="Groups to follow: ids and regular expressions for whole ids; an empty list takes none.",
    ),
    ConfigKey(
        GROUPS_EXCLUDE, LIST, HIGH, default="console-consumer-.*,connect-.*,__.*", validator=patterns,
        doc=f"Groups to leave out although {GROUPS} takes them: ids and regular expressions.",
    ),
    ConfigKey(
        GROUP_FILTER, CLASS, LOW, default=DEFAULT_GROUP_FILTER, validator=one_of(DEFAULT_GROUP_FILTER),
        doc=f"Has one value: {GROUPS} and {GROUPS_EXCLUDE} choose.",
    ),
    keys.switch(REFRESH, "groups that are new or gone are looked for"),
    keys.interval(REFRESH_INTERVAL, 600, "they are looked for"),
    keys.switch(EMIT, "checkpoints are written; this connector cannot do without"),
    keys.interval(EMIT_INTERVAL, 60, "checkpoints are written"),
    keys.switch(
        SYNC, "offsets at the target are moved on, of groups that have no members there", default=False
    ),
    keys.interval(SYNC_INTERVAL, 60, "offsets at the target are moved on"),
    keys.replication_factor(REPLICATION, "checkpoints"),
    keys.SYNCS_LOCATION_KEY,
    keys.TOPIC_FILTER_KEY,
    keys.METRIC_FORMATS_KEY,
)  # fmt: skip
EXAMPLES = {
    "Every group, with its offsets at the target moved on": {
        "source.cluster.alias": "berlin",
        "source.cluster.bootstrap.servers": "localhost:19092",
        "target.cluster.alias": "paris",
        "target.cluster.bootstrap.servers": "localhost:9092",
        "sync.group.offsets.enabled": "true",
        "checkpoints.topic.replication.factor": "1",
        **keys.BYTES,
    }
}
