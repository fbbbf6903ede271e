"""MirrorCheckpoint: its keys, and how the engine finds it; Kafka's client is loaded where one is made."""

from __future__ import annotations

from dataclasses import replace

from copycat_connect.config import CLASS, HIGH, LOW, one_of
from copycat_connect.config.settings import key, shared_key
from copycat_connect.kafka_version import KAFKA_VERSION
from copycat_connect.plugin import PluginKind, PluginSpec

from copycat_mirror import settings
from copycat_mirror.names import patterns

_CLASS_NAME = f"{settings.PACKAGE}.MirrorCheckpointConnector"
_TASK_CLASS_NAME = f"{settings.PACKAGE}.MirrorCheckpointTask"

GROUPS, GROUPS_EXCLUDE, EMIT = "groups", "groups.exclude", "emit.checkpoints.enabled"
REPLICATION = "checkpoints.topic.replication.factor"
_DEFAULT_GROUP_FILTER = f"{settings.PACKAGE}.DefaultGroupFilter"

_POLL_TIMEOUT_KEY = replace(
    settings.POLL_TIMEOUT_KEY, doc="Has no effect: offset syncs are read as far as they go."
)

ASSIGNED = "task.assigned.groups"
"""A task's key: its groups, as MirrorMaker writes them, separated by commas."""
INDEX = "task.index"
TASK_TOPICS = "task.topics"
"""A task's key: the connector's `topics`."""

GROUP, TOPIC, PARTITION = "group", "topic", "partition"
"""The keys of a source partition."""

_SUMMARY = "Writes where consumer groups of the source go on at the target, and moves their offsets there."
_GUARANTEES = (
    "At least once; a group never skips a record by a checkpoint, it may read some again. The source "
    "partition is {group, partition, topic}, the source offset always {offset: 0}. It needs the offset "
    "syncs of a MirrorSourceConnector between the same clusters, and takes its keys topics and "
    "topics.exclude, too."
)
_EXAMPLES = {
    "Every group, with its offsets at the target moved on": {
        "source.cluster.alias": "berlin",
        "source.cluster.bootstrap.servers": "localhost:19092",
        "target.cluster.alias": "paris",
        "target.cluster.bootstrap.servers": "localhost:9092",
        "sync.group.offsets.enabled": "true",
        "checkpoints.topic.replication.factor": "1",
        **settings.BYTES,
    }
}


class MirrorCheckpointSettings(settings.MirrorSettings):
    """Which groups are followed, and how often."""

    consumer_poll_timeout_ms: int = shared_key(_POLL_TIMEOUT_KEY)
    groups: tuple[str, ...] = key(
        HIGH,
        name=GROUPS,
        default=".*",
        check=patterns,
        doc="Groups to follow: ids and regular expressions for whole ids; an empty list takes none.",
    )
    groups_exclude: tuple[str, ...] = key(
        HIGH,
        name=GROUPS_EXCLUDE,
        default="console-consumer-.*,connect-.*,__.*",
        check=patterns,
        doc=f"Groups to leave out although {GROUPS} takes them: ids and regular expressions.",
    )
    group_filter_class: object = key(
        LOW,
        type=CLASS,
        default=_DEFAULT_GROUP_FILTER,
        check=one_of(_DEFAULT_GROUP_FILTER),
        doc=f"Has one value: {GROUPS} and {GROUPS_EXCLUDE} choose.",
    )
    refresh_groups_enabled: bool = settings.switch("groups that are new or gone are looked for")
    refresh_groups_interval_seconds: int = settings.interval(600, "they are looked for")
    emit_checkpoints_enabled: bool = settings.switch(
        "checkpoints are written; this connector cannot do without", name=EMIT
    )
    emit_checkpoints_interval_seconds: int = settings.interval(60, "checkpoints are written")
    sync_group_offsets_enabled: bool = settings.switch(
        "offsets at the target are moved on, of groups that have no members there", default=False
    )
    sync_group_offsets_interval_seconds: int = settings.interval(60, "offsets at the target are moved on")
    checkpoints_topic_replication_factor: int = settings.replication_factor(REPLICATION, "checkpoints")
    syncs_at_source: bool = shared_key(settings.SYNCS_LOCATION_KEY, read=lambda at: at == "source")
    topic_filter_class: object = shared_key(settings.TOPIC_FILTER_KEY)
    metric_names_formats: list[str] = shared_key(settings.METRIC_FORMATS_KEY)


PLUGIN = PluginSpec(
    class_name=_CLASS_NAME,
    kind=PluginKind.SOURCE,
    version=KAFKA_VERSION,
    summary=_SUMMARY,
    config=MirrorCheckpointSettings.config_def(),
    factory="copycat_mirror.checkpoint.connector:MirrorCheckpointConnector",
    task_class_name=_TASK_CLASS_NAME,
    task_factory="copycat_mirror.checkpoint.task:MirrorCheckpointTask",
    guarantees=_GUARANTEES,
    tested_with="brokers of Apache Kafka 4.4.0, MirrorMaker 2 of 4.3.1",
    examples=_EXAMPLES,
)
