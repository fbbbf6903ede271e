"""What the three connectors of MirrorMaker are configured with alike."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from copycat_connect.config import (
    CLASS,
    HIGH,
    LIST,
    LONG,
    LOW,
    MEDIUM,
    SHORT,
    STRING,
    ConfigDef,
    ConfigKey,
    all_of,
    non_empty,
    one_of,
    one_of_ignoring_case,
    topic_prefix,
)
from copycat_connect.config.settings import Settings, key
from copycat_connect.validation.parts import Client, client_definition

from copycat_mirror.names import DefaultPolicy, IdentityPolicy

PACKAGE = "org.apache.kafka.connect.mirror"

ENABLED = "enabled"
SOURCE_ALIAS, TARGET_ALIAS = "source.cluster.alias", "target.cluster.alias"
SOURCE_CLUSTER, TARGET_CLUSTER = "source.cluster.", "target.cluster."
DEFAULT_POLICY = f"{PACKAGE}.DefaultReplicationPolicy"
IDENTITY_POLICY = f"{PACKAGE}.IdentityReplicationPolicy"

TOPICS, TOPICS_EXCLUDE = "topics", "topics.exclude"
TOPICS_EXCLUDE_DEFAULT = r"mm2.*\.internal,.*\.replica,__.*"
SYNCS_LOCATION, EMIT_SYNCS = "offset-syncs.topic.location", "emit.offset-syncs.enabled"

_DEFAULT_TOPIC_FILTER = f"{PACKAGE}.DefaultTopicFilter"
_FORWARDING_ADMIN = "org.apache.kafka.clients.admin.ForwardingAdmin"
_SECURITY_PROTOCOL = "security.protocol"
_LOGIN_KEYS = tuple(
    each for each in client_definition(Client.ADMIN).keys.values() if each.name.startswith(("ssl.", "sasl."))
)

BYTES = {
    f"{each}.converter": "org.apache.kafka.connect.converters.ByteArrayConverter"
    for each in ("key", "value", "header")
}
"""The converters with which nothing is changed, for examples."""


def seconds(millis: int) -> float:
    """Return seconds; for keys with milliseconds."""
    return millis / 1000


class MirrorSettings(Settings):
    """Which clusters are the source and the target, and what topics are called."""

    enabled: bool = key(
        LOW, name=ENABLED, default=True, doc="Whether this connector works; else it has no tasks."
    )
    source_alias: str = key(
        HIGH,
        name=SOURCE_ALIAS,
        check=topic_prefix,
        doc="Short name of the cluster that is read, in topic names too.",
    )
    target_alias: str = key(
        HIGH,
        name=TARGET_ALIAS,
        default="target",
        check=topic_prefix,
        doc="Short name of the cluster that is written to; topics from there are not mirrored back.",
    )
    admin_seconds: float = key(
        LOW,
        name="admin.timeout.ms",
        type=LONG,
        default=60000,
        read=seconds,
        doc="Milliseconds that a request to a cluster may take, e.g. to list or create topics.",
    )
    replication_policy_class: object = key(
        LOW,
        type=CLASS,
        default=DEFAULT_POLICY,
        check=one_of(DEFAULT_POLICY, IDENTITY_POLICY),
        doc="What a mirrored topic is called: the alias of its source and its name, or its name alone.",
    )
    replication_policy_separator: str = key(
        LOW,
        default=".",
        check=all_of((non_empty, topic_prefix)),
        doc="Stands between alias and topic in the name of a mirrored topic.",
    )
    replication_policy_internal_topic_separator_enabled: bool = key(
        LOW,
        default=True,
        doc="Whether replication.policy.separator is in the names of the topics of offset syncs and "
        "checkpoints as well; otherwise these have a dot.",
    )
    forwarding_admin_class: object = key(
        LOW,
        type=CLASS,
        default=_FORWARDING_ADMIN,
        check=one_of(_FORWARDING_ADMIN),
        doc="Has one value: classes written in Java that manage topics elsewhere do not run here.",
    )
    metric_reporters: tuple[str, ...] = key(
        LOW,
        default="org.apache.kafka.common.metrics.JmxReporter",
        doc="Has no effect: metrics are those of the worker.",
    )
    security_protocol: str = key(
        MEDIUM,
        name=_SECURITY_PROTOCOL,
        default="PLAINTEXT",
        check=one_of_ignoring_case("SASL_SSL", "PLAINTEXT", "SSL", "SASL_PLAINTEXT"),
        doc="Has no effect by itself: source.cluster.security.protocol and target.cluster.security.protocol "
        "say how the clusters are reached.",
    )

    @classmethod
    def config_def(cls) -> ConfigDef:
        """Return the definition, with the clients' keys of logins and TLS behind `security.protocol`."""
        declared = [*super().config_def().keys.values()]
        place = [each.name for each in declared].index(_SECURITY_PROTOCOL) + 1
        return ConfigDef(*declared[:place], *_LOGIN_KEYS, *declared[place:])

    @cached_property
    def policy(self) -> DefaultPolicy:
        """What topics are called."""
        kind = IdentityPolicy if self.replication_policy_class == IDENTITY_POLICY else DefaultPolicy
        return kind(
            self.source_alias,
            self.replication_policy_separator,
            separator_in_internal_topics=self.replication_policy_internal_topic_separator_enabled,
        )


TOPIC_FILTER_KEY = ConfigKey(
    "topic.filter.class",
    CLASS,
    LOW,
    default=_DEFAULT_TOPIC_FILTER,
    validator=one_of(_DEFAULT_TOPIC_FILTER),
    doc=f"Has one value: {TOPICS} and {TOPICS_EXCLUDE} choose.",
)
POLL_TIMEOUT_KEY = ConfigKey(
    "consumer.poll.timeout.ms",
    LONG,
    LOW,
    default=1000,
    doc="Milliseconds to wait for records of the source; the task waits half a second at most.",
)
SYNCS_LOCATION_KEY = ConfigKey(
    SYNCS_LOCATION,
    STRING,
    LOW,
    default="source",
    validator=one_of("source", "target"),
    doc="The cluster that holds the topic of offset syncs.",
)
METRIC_FORMATS_KEY = ConfigKey(
    "metric.names.formats", LIST, LOW, default="legacy", doc="Has no effect: metrics are those of the worker."
)


def replication_factor(name: str, what: str) -> Any:  # noqa: ANN401 - the field's annotation is its type
    """Declare the key with the replication factor of an internal topic."""
    return key(LOW, name=name, type=SHORT, default=3, doc=f"Replication factor of the topic of {what}.")


def interval(default: int, what: str) -> Any:  # noqa: ANN401 - as above
    """Declare a key with seconds between two times."""
    return key(LOW, type=LONG, default=default, doc=f"Seconds between two times that {what}.")


def switch(what: str, *, name: str | None = None, default: bool = True) -> Any:  # noqa: ANN401 - as above
    """Declare a key that turns something on or off."""
    return key(LOW, name=name, default=default, doc=f"Whether {what}.")
