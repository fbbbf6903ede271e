"""The keys the framework itself gives to every connector, before any plugin is known.

Texts are ours; names, types, defaults, groups and places are those of Kafka Connect 4.4.
"""

from __future__ import annotations

from copycat_connect.config.framework_common import ALIASES, CONNECTOR, error_key
from copycat_connect.config.framework_names import (
    COMMON_GROUP,
    DLQ_CONTEXT_HEADERS,
    DLQ_REPLICATION_FACTOR,
    DLQ_TOPIC,
    EXACTLY_ONCE_GROUP,
    EXACTLY_ONCE_SUPPORT,
    OFFSETS_TOPIC,
    OFFSETS_TOPIC_GROUP,
    TOPIC_CREATION_GROUP,
    TOPIC_CREATION_GROUPS,
    TOPICS,
    TOPICS_REGEX,
    TRANSACTION_BOUNDARY,
    TRANSACTION_INTERVAL,
)
from copycat_connect.config.key import ConfigKey, Importance, Width
from copycat_connect.config.setting import Type
from copycat_connect.config.user_pattern import matches_java_regex
from copycat_connect.config.validators import (
    all_of,
    at_least,
    at_most_entries,
    distinct_names,
    non_empty,
    one_of_ignoring_case,
    topic_name,
    topic_names,
)

MAX_TOPICS = 10_000
"""Topics that a sink may list; `topics.regex` names any number."""
_SINK = (
    ConfigKey(
        TOPICS,
        Type.LIST,
        Importance.HIGH,
        default="",
        validator=all_of((at_most_entries(MAX_TOPICS), distinct_names(), topic_names)),
        doc="Topics to read, separated by commas.",
        group=COMMON_GROUP,
        order=4,
        width=Width.LONG,
        display_name="Topics",
    ),
    ConfigKey(
        TOPICS_REGEX,
        Type.STRING,
        Importance.HIGH,
        default="",
        validator=matches_java_regex,
        doc="Regular expression; topics that match it as a whole are read. Give this or topics, not both.",
        group=COMMON_GROUP,
        order=4,
        width=Width.LONG,
        display_name="Topics regex",
    ),
)
_DEAD_LETTERS = (
    error_key(
        DLQ_TOPIC,
        Type.STRING,
        "",
        order=6,
        title="Dead Letter Queue Topic Name",
        doc="Topic that receives the records that fail; empty for none.",
        validator=topic_name,
    ),
    error_key(
        DLQ_REPLICATION_FACTOR,
        Type.SHORT,
        3,
        order=7,
        title="Dead Letter Queue Topic Replication Factor",
        doc="Replication factor of the dead letter queue when it has to be created.",
    ),
    error_key(
        DLQ_CONTEXT_HEADERS,
        Type.BOOLEAN,
        False,
        order=8,
        title="Enable Error Context Headers",
        doc="Add headers that say where and why the record failed; their names begin with __connect.errors.",
    ),
)
_SOURCE = (
    ConfigKey(
        TOPIC_CREATION_GROUPS,
        Type.LIST,
        Importance.LOW,
        default="",
        validator=ALIASES,
        doc="Groups of topics to create with settings of their own, the first that matches first.",
        group=TOPIC_CREATION_GROUP,
        order=1,
        width=Width.LONG,
        display_name="Topic Creation Groups",
    ),
    ConfigKey(
        EXACTLY_ONCE_SUPPORT,
        Type.STRING,
        Importance.MEDIUM,
        default="requested",
        validator=one_of_ignoring_case("required", "requested"),
        doc="required refuses a configuration that cannot be delivered exactly once; requested does not ask.",
        group=EXACTLY_ONCE_GROUP,
        order=2,
        width=Width.SHORT,
        display_name="Exactly once support",
    ),
    ConfigKey(
        TRANSACTION_BOUNDARY,
        Type.STRING,
        Importance.MEDIUM,
        default="poll",
        validator=one_of_ignoring_case("interval", "poll", "connector"),
        doc="Where transactions end: after each poll, at intervals, or where the connector says.",
        group=EXACTLY_ONCE_GROUP,
        order=3,
        width=Width.SHORT,
        display_name="Transaction Boundary",
    ),
    ConfigKey(
        TRANSACTION_INTERVAL,
        Type.LONG,
        Importance.LOW,
        default=None,
        validator=lambda name, value: None if value is None else at_least(0)(name, value),
        doc="Milliseconds between transactions that end at intervals; by default the flush interval.",
        group=EXACTLY_ONCE_GROUP,
        order=4,
        width=Width.SHORT,
        display_name="Transaction boundary interval",
    ),
    ConfigKey(
        OFFSETS_TOPIC,
        Type.STRING,
        Importance.LOW,
        default=None,
        validator=all_of((non_empty, topic_name)),
        doc="Topic for this connector's offsets; by default the worker's.",
        group=OFFSETS_TOPIC_GROUP,
        order=1,
        width=Width.LONG,
        display_name="Offsets topic",
    ),
)

SINK_CONNECTOR = CONNECTOR.extended(*_SINK, *_DEAD_LETTERS)
"""What every sink connector has."""
SOURCE_CONNECTOR = CONNECTOR.extended(*_SOURCE)
"""What every source connector has."""
SOURCE_WITH_DEAD_LETTERS = SOURCE_CONNECTOR.extended(*_DEAD_LETTERS)
"""What a source connector has that names a dead letter queue, which Kafka Connect has for sinks only."""
