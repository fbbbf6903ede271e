"""What every part of a cluster calls by the same name: one definition a fact, the standard library only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType
from typing import Final, NamedTuple

from copycat_connect.cluster.config import Config
from copycat_connect.cluster.sink_group import GROUP_OVERRIDE, sink_group

GRPC_PORTS: Final[Mapping[str, int]] = MappingProxyType(
    {"config": 9101, "offset": 9102, "status": 9103, "scheduler": 9104, "executor": 9105}
)
"""The port on which each role answers gRPC, by the role's name."""
REST_PORT: Final = 8083
"""The port of the REST interface, as in Kafka Connect."""
_WILDCARD_HOSTS: Final = frozenset({"", "0.0.0.0", "::"})  # noqa: S104 - recognised, not bound


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


ORPHANED_HOST_SECONDS: Final = 1.0
"""A task host whose executor died has ended after so long: its kernel sees to that."""


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
]
