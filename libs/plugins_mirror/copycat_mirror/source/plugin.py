"""MirrorSource: its keys, and how the engine finds it; Kafka's client is loaded where one is made."""

from __future__ import annotations

from copycat_connect.config import CLASS, HIGH, LONG, LOW, one_of
from copycat_connect.config.settings import key, shared_key
from copycat_connect.kafka_version import KAFKA_VERSION
from copycat_connect.plugin import PluginKind, PluginSpec

from copycat_mirror import settings
from copycat_mirror.names import patterns

_CLASS_NAME = f"{settings.PACKAGE}.MirrorSourceConnector"
_TASK_CLASS_NAME = f"{settings.PACKAGE}.MirrorSourceTask"

PROPERTIES_EXCLUDE, SYNC_ACLS = "config.properties.exclude", "sync.topic.acls.enabled"
REPLICATION, SYNCS_REPLICATION = "replication.factor", "offset-syncs.topic.replication.factor"
_DEFAULT_PROPERTY_FILTER = f"{settings.PACKAGE}.DefaultConfigPropertyFilter"

PARTITIONS = "task.assigned.partitions"
"""A task's key: its partitions, `topic-0,topic-1`."""
INDEX = "task.index"

CLUSTER, TOPIC, PARTITION = "cluster", "topic", "partition"
"""The keys of a source partition."""
OFFSET = "offset"
"""The key of a source offset: that of the last record copied."""

_SUMMARY = "Copies topics of another Kafka cluster byte for byte, with their partitions, settings and rights."
_GUARANTEES = (
    "At least once, each partition in order; exactly once (delivery.guarantee) where "
    "source.consumer.isolation.level is read_committed. Keys, values, headers, timestamps (but 0) and "
    "partitions stay, with ByteArrayConverter for all three. The source partition is {cluster, partition, "
    "topic}, the source offset {offset}: that of the last record copied. A topic that is deleted and made "
    "anew at the source is copied from its beginning, records of its first seconds perhaps twice; where the "
    "mirror was stopped meanwhile it goes on at the offset: reset that."
)
_EXCLUDED = (
    "follower.replication.throttled.replicas", "leader.replication.throttled.replicas",
    "message.timestamp.difference.max.ms", "log.message.timestamp.before.max.ms",
    "log.message.timestamp.after.max.ms", "message.timestamp.type", "unclean.leader.election.enable",
    "min.insync.replicas",
)  # fmt: skip
_EXAMPLES = {
    "Every topic of another cluster": {
        "source.cluster.alias": "berlin",
        "source.cluster.bootstrap.servers": "localhost:19092",
        "target.cluster.alias": "paris",
        "target.cluster.bootstrap.servers": "localhost:9092",
        "replication.factor": "1",
        "offset-syncs.topic.replication.factor": "1",
        **settings.BYTES,
    },
    "Some topics under their own names, ready for delivery.guarantee=exactly_once": {
        "source.cluster.alias": "berlin",
        "source.cluster.bootstrap.servers": "localhost:19092",
        "target.cluster.alias": "paris",
        "target.cluster.bootstrap.servers": "localhost:9092",
        "topics": "orders,invoices-.*",
        "replication.policy.class": settings.IDENTITY_POLICY,
        "replication.factor": "1",
        "offset-syncs.topic.replication.factor": "1",
        "source.consumer.isolation.level": "read_committed",
        **settings.BYTES,
    },
}


class MirrorSourceSettings(settings.MirrorSettings):
    """Which topics are copied, and what of them is kept alike."""

    topics: tuple[str, ...] = key(
        HIGH,
        name=settings.TOPICS,
        default=".*",
        check=patterns,
        doc="Topics to copy: names and regular expressions for whole names; an empty list takes none.",
    )
    topics_exclude: tuple[str, ...] = key(
        HIGH,
        name=settings.TOPICS_EXCLUDE,
        default=settings.TOPICS_EXCLUDE_DEFAULT,
        check=patterns,
        doc=f"Topics to leave out although {settings.TOPICS} takes them: names and regular expressions.",
    )
    config_properties_exclude: tuple[str, ...] = key(
        HIGH,
        name=PROPERTIES_EXCLUDE,
        default=",".join(_EXCLUDED),
        check=patterns,
        doc="Settings of topics that are not taken over: names and regular expressions.",
    )
    topic_filter_class: object = shared_key(settings.TOPIC_FILTER_KEY)
    config_property_filter_class: object = key(
        LOW,
        type=CLASS,
        default=_DEFAULT_PROPERTY_FILTER,
        check=one_of(_DEFAULT_PROPERTY_FILTER),
        doc=f"Has one value: {PROPERTIES_EXCLUDE} chooses.",
    )
    poll_seconds: float = shared_key(settings.POLL_TIMEOUT_KEY, read=settings.seconds)
    refresh_topics_enabled: bool = settings.switch(
        "topics and partitions that are new or gone are looked for"
    )
    refresh_topics_interval_seconds: int = settings.interval(600, "they are looked for")
    sync_topic_configs_enabled: bool = settings.switch("settings of topics are taken over, also later on")
    sync_topic_configs_interval_seconds: int = settings.interval(600, "settings are compared")
    sync_topic_acls_enabled: bool = settings.switch("rights to read topics are taken over", name=SYNC_ACLS)
    sync_topic_acls_interval_seconds: int = settings.interval(600, "rights are taken over")
    replication_factor: int = key(
        LOW, name=REPLICATION, default=2, doc="Replication factor of topics made at the target."
    )
    syncs_replication_factor: int = settings.replication_factor(SYNCS_REPLICATION, "offset syncs")
    offset_lag_max: int = key(
        LOW,
        type=LONG,
        default=100,
        doc="An offset sync is written at the latest when so many records have been copied since the last.",
    )
    syncs_at_source: bool = shared_key(settings.SYNCS_LOCATION_KEY, read=lambda at: at == "source")
    emit_syncs: bool = settings.switch(
        "offset syncs are written: without them there are no checkpoints", name=settings.EMIT_SYNCS
    )
    heartbeats_replication_enabled: bool = settings.switch(
        f"topics of heartbeats are copied although {settings.TOPICS} does not take them; those that bear the "
        "source's own alias never are: they come from a mirror that writes to the cluster it reads"
    )
    metric_names_formats: list[str] = shared_key(settings.METRIC_FORMATS_KEY)


PLUGIN = PluginSpec(
    class_name=_CLASS_NAME,
    kind=PluginKind.SOURCE,
    version=KAFKA_VERSION,
    summary=_SUMMARY,
    config=MirrorSourceSettings.config_def(),
    factory="copycat_mirror.source.connector:MirrorSourceConnector",
    task_class_name=_TASK_CLASS_NAME,
    task_factory="copycat_mirror.source.task:MirrorSourceTask",
    guarantees=_GUARANTEES,
    tested_with="brokers of Apache Kafka 4.4.0, MirrorMaker 2 of 4.3.1",
    examples=_EXAMPLES,
)
