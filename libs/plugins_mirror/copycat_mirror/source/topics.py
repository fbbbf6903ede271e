"""Which topics are mirrored, and their counterparts at the target: made, grown, configured, readable."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping

from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    ConfigEntry,
    ConfigSource,
    ResourcePatternType,
    ResourceType,
)
from copycat_connect.errors import ConnectError, RetriableError

from copycat_mirror.cluster import MirrorCluster
from copycat_mirror.names import NameFilter
from copycat_mirror.settings import TARGET_CLUSTER, TOPICS, TOPICS_EXCLUDE
from copycat_mirror.source.plugin import (
    PROPERTIES_EXCLUDE,
    REPLICATION,
    SYNC_ACLS,
    MirrorSourceSettings,
)

_log = logging.getLogger(__name__)
_MOST_NAMED = 3
DEFAULTS_FROM = "use.defaults.from"
"""Whose defaults count for properties that nobody set: `target` (the default) or `source`."""


class TopicMirror:
    """Keeps the target's topics like the source's."""

    def __init__(self, config: Mapping[str, str], source: MirrorCluster, target: MirrorCluster) -> None:
        """Use the configuration and both clusters."""
        self._settings = settings = MirrorSourceSettings.parse(config)
        self.policy = settings.policy
        self._source, self._target = source, target
        self._topics = NameFilter({TOPICS: settings.topics}, {TOPICS_EXCLUDE: settings.topics_exclude})
        self._properties = NameFilter(None, {PROPERTIES_EXCLUDE: settings.config_properties_exclude})
        self._source_defaults = config.get(DEFAULTS_FROM) == "source"
        self._told_no_authorizer = False
        self.missing: str | None = None
        """What the last look should have found at the source and did not, for people."""

    def takes(self, topic: str) -> bool:
        """Tell whether a topic of the source is mirrored."""
        chosen = self._topics.takes(topic) or (
            self._settings.heartbeats_replication_enabled and self.policy.is_heartbeats(topic)
        )
        if not chosen or self.policy.is_internal(topic) or self._is_own_heartbeats(topic):
            return False
        return not self.policy.would_loop(topic, self._settings.target_alias)

    def remote(self, topic: str) -> str:
        """Return what a topic of the source is called at the target."""
        return self.policy.remote_topic(self._settings.source_alias, topic)

    def follow(self) -> dict[str, int]:
        """Make topics and partitions that the target lacks; returns the partitions of each mirrored topic.

        A topic that cannot be made, or lacks partitions that cannot be added, is logged and left out until
        the next time.

        Raises:
            RetriableError: A cluster is away.
        """
        found = self._source.topics()
        wanted = {topic: count for topic, count in found.items() if self.takes(topic)}
        there = self._target.topics()
        self.missing = self._goes_round(found, wanted) or (None if wanted else self._none_there())
        missing = [topic for topic in wanted if self.remote(topic) not in there]
        configs = self._source.topic_configs(missing)
        refused: dict[str, str] = {}
        for topic, count in wanted.items():
            remote = self.remote(topic)
            try:
                if topic in configs:
                    self._make(remote, count, configs[topic])
                elif count > there.get(remote, 0) and self._target.grow_topic(remote, count):
                    _log.info("Topic %s has %d partitions now", remote, count)
            except RetriableError:
                raise
            except ConnectError as error:
                _log.warning("Topic %s is not mirrored: %s", topic, error.message)
                refused[topic] = error.message
        if wanted and len(refused) == len(wanted):
            target = self._settings.target_alias
            message = f"No topic can be mirrored: none of {len(wanted)} can be made at {target}"
            raise ConnectError(f"{message}; the log has the reasons. Is {REPLICATION} too large?")
        if refused:
            self.missing = "; ".join(f"topic {each} is not mirrored: {why}" for each, why in refused.items())
        return {topic: count for topic, count in wanted.items() if topic not in refused}

    def sync_configs(self) -> None:
        """Give the target's topics the settings of the source's; only what differs is written.

        Raises:
            ConnectError: Settings cannot be read; RetriableError where that may pass.
        """
        mirrored = self._mirrored()
        ours = self._source.topic_configs(mirrored)
        theirs = self._target.topic_configs(map(self.remote, mirrored))
        for topic, entries in ours.items():
            remote = self.remote(topic)
            values, reset = self._differences(entries, theirs[remote])
            try:
                self._target.alter_topic_config(remote, values, reset)
            except ConnectError as error:
                _log.warning("%s", error.message)

    def sync_acls(self) -> None:
        """Give who may read a topic at the source the right to read it at the target; never to write.

        Raises:
            ConnectError: Rights cannot be listed; RetriableError where that may pass.
        """
        found = self._source.topic_acls()
        if found is None:
            if not self._told_no_authorizer:
                _log.info(
                    "Cluster %s has no authorizer: no access rights are taken over. %s=false ends this",
                    self._settings.source_alias,
                    SYNC_ACLS,
                )
            self._told_no_authorizer = True
            return
        for wrong in self._target.create_acls(
            [self._remote_acl(each) for each in found if self._takes_acl(each)]
        ):
            _log.warning("%s", wrong)

    def _none_there(self) -> str:
        wanted = f"{TOPICS}={','.join(self._settings.topics)}"
        return f"topics at cluster {self._settings.source_alias}: it has none that {wanted} chooses"

    def _is_own_heartbeats(self, topic: str) -> bool:
        """Tell whether a topic of the source holds heartbeats that a mirror of this source has copied.

        They are at the source only where mirrors write to the cluster they read: each would be copied
        under one more alias, without end.
        """
        return (
            self.policy.is_heartbeats(topic) and self.policy.source_of(topic) == self._settings.source_alias
        )

    def _goes_round(self, found: Iterable[str], wanted: Iterable[str]) -> str | None:
        """Say that what is written comes back to the source, where it does."""
        renamed = {self.remote(topic) for topic in wanted} if self.remote("t") != "t" else set()
        copies = sorted(topic for topic in found if topic in renamed or self._is_own_heartbeats(topic))
        if not copies:
            return None
        source, target = self._settings.source_alias, self._settings.target_alias
        return (
            f"topics called like this mirror's copies are at cluster {source}, which it reads: "
            f"{', '.join(copies[:_MOST_NAMED])}. Records go to the Kafka of the worker, whatever "
            f"{TARGET_CLUSTER}* says: run the mirror on a worker of {target}, or set "
            "producer.override.bootstrap.servers; and delete the copies, or name them in "
            f"{TOPICS_EXCLUDE}"
        )

    def _mirrored(self) -> list[str]:
        there = self._target.topics()
        return [topic for topic in self._source.topics() if self.takes(topic) and self.remote(topic) in there]

    def _make(self, remote: str, partitions: int, entries: Mapping[str, ConfigEntry]) -> None:
        config = {
            name: entry.value
            for name, entry in self._chosen(entries.items())
            if entry.value is not None and (self._source_defaults or not entry.is_default)
        }
        if self._target.create_topic(remote, partitions, self._settings.replication_factor, config):
            _log.info("Topic %s was made, with %d partitions", remote, partitions)

    def _chosen(self, entries: Iterable[tuple[str, ConfigEntry]]) -> list[tuple[str, ConfigEntry]]:
        return [
            (name, entry)
            for name, entry in entries
            if not entry.is_read_only
            and not entry.is_sensitive
            and ConfigSource(entry.source) is not ConfigSource.STATIC_BROKER_CONFIG
            and self._properties.takes(name)
        ]

    def _differences(
        self, ours: Mapping[str, ConfigEntry], theirs: Mapping[str, ConfigEntry]
    ) -> tuple[dict[str, str | None], list[str]]:
        values, reset = {}, []
        for name, entry in self._chosen(ours.items()):
            there = theirs.get(name)
            if not entry.is_default or self._source_defaults:
                if there is None or there.value != entry.value or not _is_of_topic(there):
                    values[name] = entry.value
            elif there is not None and _is_of_topic(there):
                reset.append(name)
        return values, reset

    def _takes_acl(self, acl: AclBinding) -> bool:
        if acl.restype != ResourceType.TOPIC or acl.resource_pattern_type != ResourcePatternType.LITERAL:
            return False
        writes = acl.permission_type == AclPermissionType.ALLOW and acl.operation == AclOperation.WRITE
        return not writes and self.takes(acl.name)

    def _remote_acl(self, acl: AclBinding) -> AclBinding:
        everything = acl.permission_type == AclPermissionType.ALLOW and acl.operation == AclOperation.ALL
        return AclBinding(
            ResourceType.TOPIC,
            self.remote(acl.name),
            ResourcePatternType.LITERAL,
            acl.principal,
            acl.host,
            AclOperation.READ if everything else acl.operation,
            acl.permission_type,
        )


def _is_of_topic(entry: ConfigEntry) -> bool:
    return ConfigSource(entry.source) is ConfigSource.DYNAMIC_TOPIC_CONFIG
