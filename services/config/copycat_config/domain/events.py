"""The facts of the config topic, one per record."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from copycat_connect.cluster import Config, TargetState


@dataclass(frozen=True, slots=True)
class ConnectorConfigured:
    """A connector has this configuration."""

    connector: str
    config: Config


@dataclass(frozen=True, slots=True)
class ConnectorRemoved:
    """A connector's configuration is gone."""

    connector: str


@dataclass(frozen=True, slots=True)
class TargetStateSet:
    """A connector should do this; may precede its configuration."""

    connector: str
    target: TargetState


@dataclass(frozen=True, slots=True)
class TargetStateForgotten:
    """Nothing is asked of a connector any more: back to STARTED."""

    connector: str


@dataclass(frozen=True, slots=True)
class TaskConfigured:
    """A task has this configuration once its set is committed."""

    connector: str
    index: int
    config: Config


@dataclass(frozen=True, slots=True)
class TaskSetCommitted:
    """The task configurations written since the last commit are a set of this many tasks."""

    connector: str
    count: int


@dataclass(frozen=True, slots=True)
class RestartRequested:
    """A restart was asked for; it concerns who watches now, and nobody later."""

    connector: str
    include_tasks: bool
    only_failed: bool


@dataclass(frozen=True, slots=True)
class LoggerLevelSet:
    """A cluster-wide log level was set; it concerns who watches now, and nobody later."""

    logger: str
    level: str


@dataclass(frozen=True, slots=True)
class TasksFenced:
    """The transactional producers of this many tasks were fenced (exactly-once sources)."""

    connector: str
    count: int


@dataclass(frozen=True, slots=True)
class SessionKeySet:
    """Kafka Connect's workers sign internal requests with this key; Copycat has no such requests."""

    key: str = field(repr=False)
    """Base64; secret."""
    algorithm: str
    created_ms: int
    """Milliseconds since the epoch."""


ConfigEvent: TypeAlias = (
    ConnectorConfigured
    | ConnectorRemoved
    | TargetStateSet
    | TargetStateForgotten
    | TaskConfigured
    | TaskSetCommitted
    | RestartRequested
    | LoggerLevelSet
    | TasksFenced
    | SessionKeySet
)
