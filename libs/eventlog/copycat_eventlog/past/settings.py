"""What the services read from the worker properties about the changes topic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from copycat_connect.config import LONG, LOW, STRING, ConfigDef, ConfigKey, at_least

from copycat_eventlog.past.change import ACT, COMMIT, CONFIG, OFFSETS, STATUS, TARGET_STATE
from copycat_eventlog.settings import LogSettings
from copycat_eventlog.worker_properties import GROUP_ID

#: A partition each: the many changes of statuses do not drive out the few of configurations, and a question
#: about acts does not read them.
PARTITION_BY_KIND: Final[Mapping[str, int]] = {
    CONFIG: 0,
    TARGET_STATE: 0,
    STATUS: 1,
    ACT: 2,
    OFFSETS: 3,
    COMMIT: 4,
}
PARTITIONS: Final = max(PARTITION_BY_KIND.values()) + 1
TOPIC: Final = ConfigKey(
    "changes.storage.topic",
    STRING,
    LOW,
    default=None,
    doc="Topic that remembers what changed, when, and who asked for it; <group.id>-changes if not set. It "
    "may be deleted at any time: then the history goes back only as far as compaction leaves it in the other "
    "internal topics.",
)
RETENTION_MS: Final = ConfigKey(
    "changes.retention.ms",
    LONG,
    LOW,
    default=30 * 24 * 3600 * 1000,
    validator=at_least(1),
    doc="How long changes are remembered; set when the topic is created.",
)
RETENTION_BYTES: Final = ConfigKey(
    "changes.retention.bytes",
    LONG,
    LOW,
    default=64 * 1024 * 1024,
    validator=at_least(1024 * 1024),
    doc="How much each of the five partitions of the changes topic keeps; set when the topic is created.",
)
SAMPLES: Final = ConfigKey(
    "changes.offsets.interval.ms",
    LONG,
    LOW,
    default=300_000,
    validator=at_least(1_000),
    doc="How often the newest committed offset of each partition is remembered, to be asked for later.",
)
KEYS: Final = ConfigDef(TOPIC, RETENTION_MS, RETENTION_BYTES, SAMPLES)


@dataclass(frozen=True, slots=True)
class ChangesSettings:
    """The changes topic, and the log whose changes go there."""

    log: LogSettings
    """The service's own log: where Kafka is, how many replicas topics have, and the backend."""
    topic: str
    """Its name."""
    service: str
    """Who writes to it here: config, status or offset."""
    retention_ms: int
    """How long changes are kept."""
    retention_bytes: int
    """How much each partition keeps."""
    sample_seconds: float
    """How often committed offsets are kept."""

    @property
    def topic_configs(self) -> Mapping[str, str]:
        """What the topic is created with."""
        return {
            "cleanup.policy": "delete",
            "retention.ms": str(self.retention_ms),
            "retention.bytes": str(self.retention_bytes),
            # Retention drops whole segments: with Kafka's default of 1 GB it would never come to that.
            "segment.bytes": str(max(1024 * 1024, self.retention_bytes // 8)),
        }

    @classmethod
    def read(cls, properties: Mapping[str, str], log: LogSettings, service: str) -> ChangesSettings:
        """Read them.

        Raises:
            ConfigError: A value is wrong; the text names it.
        """
        found = KEYS.parse(properties)
        named = found[TOPIC.name] or f"{properties.get(GROUP_ID.name, '').strip()}-changes"
        return cls(
            log,
            named,
            service,
            found[RETENTION_MS.name],
            found[RETENTION_BYTES.name],
            found[SAMPLES.name] / 1000,
        )
