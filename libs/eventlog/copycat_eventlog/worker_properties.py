"""What every event-sourced service reads from the worker properties: where Kafka is, and its own topic."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Final

from copycat_connect.config import (
    BOOLEAN,
    HIGH,
    INT,
    LIST,
    LOW,
    MEDIUM,
    SHORT,
    STRING,
    ConfigDef,
    ConfigKey,
    non_empty,
    one_of,
)
from copycat_connect.config.topic_creation import valid_partitions, valid_replication_factor

from copycat_eventlog.settings import Backend, LogSettings

log = logging.getLogger(__name__)

SECURITY: Final = ("security.", "sasl.", "ssl.")
BACKEND: Final = "storage.backend"

BOOTSTRAP_SERVERS: Final = ConfigKey(
    "bootstrap.servers",
    STRING,
    HIGH,
    default="localhost:9092",
    validator=non_empty,
    doc="Kafka brokers to connect to first, host:port, separated by commas.",
)
GROUP_ID: Final = ConfigKey(
    "group.id",
    STRING,
    HIGH,
    validator=non_empty,
    doc="Name of the Connect cluster; no other cluster on the same Kafka may share it.",
)


LOST_TOPICS = ConfigKey(
    "lost.topics.accept",
    LIST,
    LOW,
    default="",
    doc="Internal topics whose loss is accepted: one that was deleted is made anew, empty, when its service "
    "starts, which is refused otherwise. Take it out again after that start.",
)
TOPIC_CREATION = ConfigKey(
    "internal.topics.automatic.creation.enable",
    BOOLEAN,
    MEDIUM,
    default=True,
    doc="Whether internal topics that are missing are made: those of the services, their elections and their "
    "history, and what sources name in offsets.storage.topic. With false they have to be made beforehand.",
)


def backend_key(what: str) -> ConfigKey:
    """Return the key that says where a service keeps its log."""
    doc = f"Where {what} live: in Kafka, or in memory for a standalone worker."
    return ConfigKey(BACKEND, STRING, LOW, default="kafka", validator=one_of("kafka", "memory"), doc=doc)


def security_of(properties: Mapping[str, str]) -> dict[str, str]:
    """Return the security properties of Kafka clients, named as in Kafka's Java clients."""
    return {key: value for key, value in properties.items() if key.startswith(SECURITY)}


@dataclass(frozen=True, slots=True)
class LogTopic:
    """An internal topic as the worker properties name it: `<prefix>topic` and its kin (DistributedConfig)."""

    name: str
    """Stem of its keys: `config` for `config.storage.topic`."""
    purpose: str
    """What it holds, for messages."""
    owner: str
    """Names its one writer, `{}` standing for the group id."""
    loss: str
    """What is lost with it, for messages."""
    irreplaceable: bool = False
    """Whether nothing else in the cluster knows what it holds."""
    partitions: int | None = None
    """Default of `<name>.storage.partitions`; None for a topic that always has one."""
    default_topic: str | None = None
    """Its name if none is set, `{}` standing for the group id; None demands one."""

    @property
    def prefix(self) -> str:
        """Start of its keys; what follows is otherwise a config of the topic."""
        return f"{self.name}.storage."

    @property
    def setting(self) -> str:
        """Key of the topic's name."""
        return f"{self.prefix}topic"

    def extend(self, everywhere: ConfigDef) -> ConfigDef:
        """Return a definition with the keys that count when the log is in Kafka."""
        needed = self.default_topic is None
        shared = (BOOTSTRAP_SERVERS, GROUP_ID, LOST_TOPICS, TOPIC_CREATION)
        known = (key for key in shared if key.name not in everywhere.keys)
        return everywhere.extended(
            *known,
            ConfigKey(self.setting, STRING, HIGH, validator=non_empty, doc=self._topic_doc())
            if needed
            else ConfigKey(self.setting, STRING, HIGH, default=None, doc=self._topic_doc()),
            *self._size_keys(),
        )

    def read(self, properties: Mapping[str, str], everywhere: ConfigDef) -> LogSettings:
        """Read the log's settings; other keys under the prefix become configs of the topic.

        Raises:
            ConfigError: One is missing or wrong; the text names it.
        """
        if Backend(everywhere.parse(properties)[BACKEND]) is Backend.MEMORY:
            return LogSettings(backend=Backend.MEMORY, setting=self.setting)
        definition = self.extend(everywhere)
        found = definition.parse(properties)
        group = found[GROUP_ID.name]
        topic = found[self.setting] or (self.default_topic or "").format(group)
        return replace(
            self.new_topic(properties, definition.keys),
            bootstrap_servers=found[BOOTSTRAP_SERVERS.name],
            topic=topic,
            loss_accepted=topic in found[LOST_TOPICS.name],
            owner_id=self.owner.format(group),
            client_config=security_of(properties),
        )

    def new_topic(self, properties: Mapping[str, str], known: Collection[str] = ()) -> LogSettings:
        """Read what such a topic is created with; which one, and where, is left open.

        Args:
            properties: The worker's.
            known: Keys of the service under the same prefix, which are no configs of the topic.

        Raises:
            ConfigError: A value is wrong; the text names it.
        """
        definition = ConfigDef(*self._size_keys(), TOPIC_CREATION)
        found = definition.parse(properties)
        return LogSettings(
            backend=Backend.KAFKA,
            partitions=1 if self.partitions is None else found[f"{self.prefix}partitions"],
            single_partition=self.partitions is None,
            replication_factor=found[f"{self.prefix}replication.factor"],
            topic_configs=self._topic_configs(properties, {*definition.keys, *known, self.setting}),
            setting=self.setting,
            purpose=self.purpose,
            loss=self.loss,
            irreplaceable=self.irreplaceable,
            creates_topics=found[TOPIC_CREATION.name],
        )

    def _topic_doc(self) -> str:
        one = " of one partition" if self.partitions is None else ""
        unset = (
            "" if self.default_topic is None else f"; {self.default_topic.format('<group.id>')} if not set"
        )
        return f"Compacted topic{one} that holds {self.purpose}{unset}."

    def _size_keys(self) -> tuple[ConfigKey, ...]:
        replicas = ConfigKey(
            f"{self.prefix}replication.factor",
            SHORT,
            LOW,
            default=3,
            validator=valid_replication_factor,
            doc=f"Replicas of the {self.name} topic when it is created; -1 leaves it to the broker.",
        )
        if self.partitions is None:
            return (replicas,)
        partitions = ConfigKey(
            f"{self.prefix}partitions",
            INT,
            LOW,
            default=self.partitions,
            validator=valid_partitions,
            doc=f"Partitions of the {self.name} topic when it is created; -1 leaves it to the broker.",
        )
        return partitions, replicas

    def _topic_configs(self, properties: Mapping[str, str], known: Collection[str]) -> dict[str, str]:
        ignored = {f"{self.prefix}cleanup.policy": "it is always compact"}
        if self.partitions is None:
            ignored[f"{self.prefix}partitions"] = f"the {self.name} topic always has one"
        configs = {}
        for key, value in properties.items():
            if key in ignored:
                log.warning("ignored %s=%s: %s", key, value, ignored[key])
            elif key.startswith(self.prefix) and key not in known:
                configs[key.removeprefix(self.prefix)] = value
        return configs
