"""What every part of a cluster calls by the same name: one definition a fact, the standard library only."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType
from typing import Final, NamedTuple, TypeAlias

GRPC_PORTS: Final[Mapping[str, int]] = MappingProxyType(
    {"config": 9101, "offset": 9102, "status": 9103, "scheduler": 9104, "executor": 9105}
)
"""The port on which each role answers gRPC, by the role's name."""
REST_PORT: Final = 8083
"""The port of the REST interface, as in Kafka Connect."""
_WILDCARD_HOSTS: Final = frozenset({"", "0.0.0.0", "::"})  # noqa: S104 - recognised, not bound
ORPHANED_HOST_SECONDS: Final = 1.0
"""A task host whose executor died has ended after so long: its kernel sees to that."""
Config: TypeAlias = Mapping[str, str | None]
"""Key to text, in the order it was given; None is JSON's null. Placeholders are in it as they were written,
unless what returns it says that it has resolved them."""
GROUP_OVERRIDE: Final = "consumer.override.group.id"
"""The key by which a sink connector chooses another group (KIP-458)."""
_NO_OVERRIDES: Final[Config] = MappingProxyType({})
_TEXT: Final = json.JSONEncoder(ensure_ascii=False)


def default_address(role: str) -> str:
    """Return the host:port at which a role answers gRPC when no property says more; loopback only."""
    return f"127.0.0.1:{GRPC_PORTS[role]}"


def is_wildcard(host: str) -> bool:
    """Return whether a host stands for every address of a machine: it can be bound, but not be reached.

    Args:
        host: The host of an address; an IPv6 one with its brackets or without.
    """
    return host.strip("[]") in _WILDCARD_HOSTS


@dataclass(frozen=True, slots=True)
class Caller:
    """Who sent a request, as somebody has found out who may be believed."""

    name: str
    """The user's name; roles, the log and the history know the user by it."""
    groups: frozenset[str] = frozenset()
    """Groups the user is in, for roles."""


class Instance(NamedTuple):
    """A connector, or one of its tasks."""

    connector: str
    """The connector's name."""
    task: int | None = None
    """The task's number, from 0; None for the connector itself."""

    @property
    def task_number(self) -> int:
        """The task's number, where the caller knows that this is a task and not the connector itself."""
        assert self.task is not None  # its callers have a task
        return self.task

    def __str__(self) -> str:
        """Return the connector's name, or for a task `<connector>-<number>` as Kafka Connect writes it."""
        return self.connector if self.task is None else f"{self.connector}-{self.task}"


def in_order(instances: Iterable[Instance]) -> list[Instance]:
    """Return instances sorted by connector, each connector before its tasks, and tasks by number."""
    return sorted(instances, key=_sort_key)


def _sort_key(instance: Instance) -> tuple[str, int]:
    return instance.connector, -1 if instance.task is None else instance.task


class TargetState(Enum):
    """Kafka Connect's target states; the values are their names in the config topic and in REST answers."""

    STARTED = "STARTED"
    """The connector and its tasks run."""
    PAUSED = "PAUSED"
    """They stay where they are and move no record."""
    STOPPED = "STOPPED"
    """The connector is kept, its tasks are removed."""


INITIAL_STATES: Final[Mapping[str, TargetState]] = MappingProxyType(
    {"RUNNING": TargetState.STARTED, "PAUSED": TargetState.PAUSED, "STOPPED": TargetState.STOPPED}
)
"""What a request for a new connector calls the state it begins in (`initial_state`, KIP-980)."""


class TopicPartition(NamedTuple):
    """A partition of a Kafka topic."""

    topic: str
    """The topic's name."""
    partition: int
    """The partition's number, from 0."""


def sink_group(connector: str, config: Config = _NO_OVERRIDES) -> str:
    """Return the consumer group of a sink connector: `connect-<name>` unless its configuration overrides it.

    Its tasks read in this group and commit their positions there; the REST interface shows and changes those.

    Args:
        connector: The connector's name.
        config: The connector's configuration; blanks around the override do not count.
    """
    return (config.get(GROUP_OVERRIDE) or "").strip() or f"connect-{connector}"


def source_offset_key(connector: str, partition: bytes) -> bytes:
    """Return `["<connector>",<partition>]`; the partition is compact JSON, whose bytes are its identity."""
    return b"[%b,%b]" % (_TEXT.encode(connector).encode(), partition)


def in_any_order(partition: str | bytes) -> str:
    """Return a text that is the same for each order in which the keys of a partition may be written."""
    return json.dumps(json.loads(partition), sort_keys=True)


__all__ = [
    "GROUP_OVERRIDE",
    "GRPC_PORTS",
    "INITIAL_STATES",
    "ORPHANED_HOST_SECONDS",
    "REST_PORT",
    "Caller",
    "Config",
    "Instance",
    "TargetState",
    "TopicPartition",
    "default_address",
    "in_order",
    "is_wildcard",
    "sink_group",
    "source_offset_key",
]
