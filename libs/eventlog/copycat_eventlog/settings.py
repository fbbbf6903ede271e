"""What a service says about its log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum


class Backend(Enum):
    """What keeps the records of a log."""

    KAFKA = "kafka"
    """A compacted topic, shared with Kafka Connect where the format is its own."""
    MEMORY = "memory"
    """This process; in the given file if there is one."""


@dataclass(frozen=True, slots=True)
class LogSettings:
    """Where one log is kept and who owns it, as the worker properties say."""

    backend: Backend
    bootstrap_servers: str = ""
    topic: str = ""
    partitions: int = 1
    """Partitions of a new topic; -1 leaves it to the broker."""
    replication_factor: int = 3
    """Replicas of a new topic; -1 leaves it to the broker."""
    topic_configs: Mapping[str, str] = field(default_factory=dict)
    """More configs of a new topic; `cleanup.policy` is always compact."""
    owner_id: str = ""
    """Names the one writer: its transactional.id, and with `-owner` the group that elects it.

    Empty for a topic that has no such writer.
    """
    setting: str = ""
    """Property that names the topic, for messages, e.g. `config.storage.topic`."""
    purpose: str = ""
    """What the topic holds, for messages, e.g. `connector configurations`."""
    loss: str = ""
    """What nobody knows any more once the topic is gone, for messages, e.g. `which connectors there are`."""
    irreplaceable: bool = False
    """Whether a topic that was there before and is gone is not made anew: a start is refused instead."""
    loss_accepted: bool = False
    """Whether it is made anew all the same, and one that a broker has made since is used."""
    creates_topics: bool = True
    """Whether a topic that is missing is made; else a start without it is refused."""
    single_partition: bool = False
    """Whether a topic of more than one partition is refused."""
    file: str | None = None
    """Memory backend only: where the records are kept, in the format of standalone Connect's offsets file."""
    client_config: Mapping[str, str] = field(default_factory=dict)
    """Client properties besides the bootstrap servers (security), named as in Kafka's Java clients."""
    reachable_within: float = 60.0
    """Seconds to wait for the brokers at start."""
    session: float = 6.0
    """Seconds that a dead owner keeps the log from others; brokers allow no less by default."""
