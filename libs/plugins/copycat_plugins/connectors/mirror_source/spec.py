"""MirrorSource: what it is called and how it is configured."""

from __future__ import annotations

from copycat_connect.config import CLASS, HIGH, INT, LIST, LONG, LOW, ConfigDef, ConfigKey, one_of

from copycat_plugins.connectors.mirror import keys
from copycat_plugins.connectors.mirror.filters import patterns

CLASS_NAME = f"{keys.PACKAGE}.MirrorSourceConnector"
TASK_CLASS_NAME = f"{keys.PACKAGE}.MirrorSourceTask"

PROPERTIES_EXCLUDE, PROPERTY_FILTER = "config.properties.exclude", "config.property.filter.class"
REFRESH, REFRESH_INTERVAL = "refresh.topics.enabled", "refresh.topics.interval.seconds"
SYNC_CONFIGS, SYNC_CONFIGS_INTERVAL = "sync.topic.configs.enabled", "sync.topic.configs.interval.seconds"
SYNC_ACLS, SYNC_ACLS_INTERVAL = "sync.topic.acls.enabled", "sync.topic.acls.interval.seconds"
REPLICATION, SYNCS_REPLICATION = "replication.factor", "offset-syncs.topic.replication.factor"
LAG_MAX = "offset.lag.max"
HEARTBEATS = "heartbeats.replication.enabled"
DEFAULT_PROPERTY_FILTER = f"{keys.PACKAGE}.DefaultConfigPropertyFilter"

PARTITIONS = "task.assigned.partitions"
"""A task's key: its partitions, `topic-0,topic-1`."""
INDEX = "task.index"

CLUSTER, TOPIC, PARTITION = "cluster", "topic", "partition"
"""The keys of a source partition."""
OFFSET = "offset"
"""The key of a source offset: that of the last record copied."""

SUMMARY = "Copies topics of another Kafka cluster byte for byte, with their partitions, settings and rights."
GUARANTEES = (
    "At least once, each partition in order; exactly once (delivery.guarantee) where source.consumer."
    "isolation.level is read_committed. Keys, values, headers, timestamps and partitions stay as they are, "
    "with ByteArrayConverter for all three. The source partition is {cluster, partition, topic}, the source "
    "offset {offset}: that of the last record copied."
)
_EXCLUDED = (
    "follower.replication.throttled.replicas", "leader.replication.throttled.replicas",
    "message.timestamp.difference.max.ms", "log.message.timestamp.before.max.ms",
    "log.message.timestamp.after.max.ms", "message.timestamp.type", "unclean.leader.election.enable",
    "min.insync.replicas",
)  # fmt: skip

CONFIG = ConfigDef(
    *keys.BASE,
    ConfigKey(
        keys.TOPICS, LIST, HIGH, default=".*", validator=patterns,
        doc="Topics to copy: names and regular expressions for whole names; an empty list takes none.",
    ),
    ConfigKey(
        keys.TOPICS_EXCLUDE, LIST, HIGH, default=keys.TOPICS_EXCLUDE_DEFAULT, validator=patterns,
        doc=f"Topics to leave out although {keys.TOPICS} takes them: names and regular expressions.",
    ),
    ConfigKey(
        PROPERTIES_EXCLUDE, LIST, HIGH, default=",".join(_EXCLUDED), validator=patterns,
        doc="Settings of topics that are not taken over: names and regular expressions.",
    ),
    keys.TOPIC_FILTER_KEY,
    ConfigKey(
        PROPERTY_FILTER, CLASS, LOW, default=DEFAULT_PROPERTY_FILTER,
        validator=one_of(DEFAULT_PROPERTY_FILTER), doc=f"Has one value: {PROPERTIES_EXCLUDE} chooses.",
    ),
    keys.POLL_TIMEOUT_KEY,
    keys.switch(REFRESH, "topics and partitions that are new or gone are looked for"),
    keys.interval(REFRESH_INTERVAL, 600, "they are looked for"),
    keys.switch(SYNC_CONFIGS, "settings of topics are taken over, also later on"),
    keys.interval(SYNC_CONFIGS_INTERVAL, 600, "settings are compared"),
    keys.switch(SYNC_ACLS, "rights to read topics are taken over"),
    keys.interval(SYNC_ACLS_INTERVAL, 600, "rights are taken over"),
    ConfigKey(REPLICATION, INT, LOW, default=2, doc="Replication factor of topics made at the target."),
    keys.replication_factor(SYNCS_REPLICATION, "offset syncs"),
    ConfigKey(
        LAG_MAX, LONG, LOW, default=100,
        doc="An offset sync is written at the latest when so many records have been copied since the last.",
    ),
    keys.SYNCS_LOCATION_KEY,
    keys.EMIT_SYNCS_KEY,
    keys.switch(HEARTBEATS, f"topics of heartbeats are copied although {keys.TOPICS} does not take them"),
    keys.METRIC_FORMATS_KEY,
)  # fmt: skip
EXAMPLES = {
    "Every topic of another cluster": {
        "source.cluster.alias": "berlin",
        "source.cluster.bootstrap.servers": "localhost:19092",
        "target.cluster.alias": "paris",
        "target.cluster.bootstrap.servers": "localhost:9092",
        "replication.factor": "1",
        "offset-syncs.topic.replication.factor": "1",
        **keys.BYTES,
    },
    "Some topics under their own names, ready for delivery.guarantee=exactly_once": {
        "source.cluster.alias": "berlin",
        "source.cluster.bootstrap.servers": "localhost:19092",
        "target.cluster.alias": "paris",
        "target.cluster.bootstrap.servers": "localhost:9092",
        "topics": "orders,invoices-.*",
        "replication.policy.class": keys.IDENTITY_POLICY,
        "replication.factor": "1",
        "offset-syncs.topic.replication.factor": "1",
        "source.consumer.isolation.level": "read_committed",
        **keys.BYTES,
    },
}
