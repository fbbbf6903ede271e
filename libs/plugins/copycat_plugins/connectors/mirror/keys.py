"""The configuration keys that the three connectors of MirrorMaker share."""

from __future__ import annotations

from copycat_connect.config import (
    BOOLEAN,
    CLASS,
    HIGH,
    LIST,
    LONG,
    LOW,
    MEDIUM,
    SHORT,
    STRING,
    ConfigKey,
    all_of,
    non_empty,
    one_of,
    one_of_ignoring_case,
    topic_prefix,
)
from copycat_connect.validation.client_settings import Client, client_definition

PACKAGE = "org.apache.kafka.connect.mirror"

ENABLED = "enabled"
SOURCE_ALIAS, TARGET_ALIAS = "source.cluster.alias", "target.cluster.alias"
SOURCE_CLUSTER, TARGET_CLUSTER = "source.cluster.", "target.cluster."
ADMIN_TIMEOUT = "admin.timeout.ms"
POLICY, SEPARATOR = "replication.policy.class", "replication.policy.separator"
INTERNAL_SEPARATOR = "replication.policy.internal.topic.separator.enabled"
DEFAULT_POLICY = f"{PACKAGE}.DefaultReplicationPolicy"
IDENTITY_POLICY = f"{PACKAGE}.IdentityReplicationPolicy"
FORWARDING_ADMIN = "forwarding.admin.class"
METRIC_REPORTERS, METRIC_FORMATS = "metric.reporters", "metric.names.formats"
SECURITY_PROTOCOL = "security.protocol"

TOPICS, TOPICS_EXCLUDE, TOPIC_FILTER = "topics", "topics.exclude", "topic.filter.class"
TOPICS_EXCLUDE_DEFAULT = r"mm2.*\.internal,.*\.replica,__.*"
DEFAULT_TOPIC_FILTER = f"{PACKAGE}.DefaultTopicFilter"
POLL_TIMEOUT = "consumer.poll.timeout.ms"
SYNCS_LOCATION, EMIT_SYNCS = "offset-syncs.topic.location", "emit.offset-syncs.enabled"
AT_SOURCE, AT_TARGET = "source", "target"

BYTES = {
    f"{each}.converter": "org.apache.kafka.connect.converters.ByteArrayConverter"
    for each in ("key", "value", "header")
}
"""The converters with which nothing is changed, for examples."""

BASE = (
    ConfigKey(ENABLED, BOOLEAN, LOW, default=True, doc="Whether this connector works; else it has no tasks."),
    ConfigKey(
        SOURCE_ALIAS, STRING, HIGH, validator=topic_prefix,
        doc="Short name of the cluster that is read, in topic names too.",
    ),
    ConfigKey(
        TARGET_ALIAS, STRING, HIGH, default="target", validator=topic_prefix,
        doc="Short name of the cluster that is written to; topics from there are not mirrored back.",
    ),
    ConfigKey(
        ADMIN_TIMEOUT, LONG, LOW, default=60000,
        doc="Milliseconds that a request to a cluster may take, e.g. to list or create topics.",
    ),
    ConfigKey(
        POLICY, CLASS, LOW, default=DEFAULT_POLICY, validator=one_of(DEFAULT_POLICY, IDENTITY_POLICY),
        doc="What a mirrored topic is called: the alias of its source and its name, or its name alone.",
    ),
    ConfigKey(
        SEPARATOR, STRING, LOW, default=".", validator=all_of((non_empty, topic_prefix)),
        doc="Stands between alias and topic in the name of a mirrored topic.",
    ),
    ConfigKey(
        INTERNAL_SEPARATOR, BOOLEAN, LOW, default=True,
        doc="Whether replication.policy.separator is in the names of the topics of offset syncs and "
        "checkpoints as well; otherwise these have a dot.",
    ),
    ConfigKey(
        FORWARDING_ADMIN, CLASS, LOW, default="org.apache.kafka.clients.admin.ForwardingAdmin",
        validator=one_of("org.apache.kafka.clients.admin.ForwardingAdmin"),
        doc="Has one value: classes written in Java that manage topics elsewhere do not run here.",
    ),
    ConfigKey(
        METRIC_REPORTERS, LIST, LOW, default="org.apache.kafka.common.metrics.JmxReporter",
        doc="Has no effect: metrics are those of the worker.",
    ),
    ConfigKey(
        SECURITY_PROTOCOL, STRING, MEDIUM, default="PLAINTEXT",
        validator=one_of_ignoring_case("SASL_SSL", "PLAINTEXT", "SSL", "SASL_PLAINTEXT"),
        doc="Has no effect by itself: source.cluster.security.protocol and target.cluster.security.protocol "
        "say how the clusters are reached.",
    ),
    *(
        key
        for name, key in client_definition(Client.ADMIN).keys.items()
        if name.startswith(("ssl.", "sasl."))
    ),
)  # fmt: skip
"""Of every connector."""

TOPIC_FILTER_KEY = ConfigKey(
    TOPIC_FILTER, CLASS, LOW, default=DEFAULT_TOPIC_FILTER, validator=one_of(DEFAULT_TOPIC_FILTER),
    doc=f"Has one value: {TOPICS} and {TOPICS_EXCLUDE} choose.",
)  # fmt: skip
POLL_TIMEOUT_KEY = ConfigKey(
    POLL_TIMEOUT, LONG, LOW, default=1000,
    doc="Milliseconds to wait for records of the source; the task waits half a second at most.",
)  # fmt: skip
SYNCS_LOCATION_KEY = ConfigKey(
    SYNCS_LOCATION, STRING, LOW, default=AT_SOURCE, validator=one_of(AT_SOURCE, AT_TARGET),
    doc="The cluster that holds the topic of offset syncs.",
)  # fmt: skip
EMIT_SYNCS_KEY = ConfigKey(
    EMIT_SYNCS, BOOLEAN, LOW, default=True,
    doc="Whether offset syncs are written: without them there are no checkpoints.",
)  # fmt: skip
METRIC_FORMATS_KEY = ConfigKey(
    METRIC_FORMATS, LIST, LOW, default="legacy", doc="Has no effect: metrics are those of the worker."
)


def replication_factor(name: str, what: str) -> ConfigKey:
    """Return the key with the replication factor of an internal topic."""
    return ConfigKey(name, SHORT, LOW, default=3, doc=f"Replication factor of the topic of {what}.")


def interval(name: str, default: int, what: str) -> ConfigKey:
    """Return a key with seconds between two times."""
    return ConfigKey(name, LONG, LOW, default=default, doc=f"Seconds between two times that {what}.")


def switch(name: str, what: str, *, default: bool = True) -> ConfigKey:
    """Return a key that turns something on or off."""
    return ConfigKey(name, BOOLEAN, LOW, default=default, doc=f"Whether {what}.")
