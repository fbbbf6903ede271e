"""What may be asked of the config service."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from copycat_connect.cluster import Config, TargetState


@dataclass(frozen=True, slots=True)
class PutConnector:
    """Create a connector or replace its configuration."""

    connector: str
    config: Config
    initial_state: TargetState | None = None
    """Written before the configuration; None leaves the target state alone."""
    create_only: bool = False
    """Refuse when the connector is there."""
    replace_only: bool = False
    """Refuse when it is not."""
    expected: Config | None = None
    """Refuse when the configuration is neither this nor the one to write."""


@dataclass(frozen=True, slots=True)
class DeleteConnector:
    """Remove a connector's configuration and target state."""

    connector: str


@dataclass(frozen=True, slots=True)
class SetTargetState:
    """Set what a connector should do; STOPPED also empties its task set."""

    connector: str
    target: TargetState


@dataclass(frozen=True, slots=True)
class PutTaskConfigs:
    """Publish a connector's task configurations as one set."""

    connector: str
    tasks: tuple[Config, ...]
    applied: Config
    """The connector configuration the set was made from."""


@dataclass(frozen=True, slots=True)
class RecordFencing:
    """Note that all tasks of a connector before its newest task set are fenced (KIP-618)."""

    connector: str
    count: int
    """The size of that set."""
    task_generation: int | None
    """The number of the newest good task set when the fencing began; None when there was none."""


@dataclass(frozen=True, slots=True)
class RequestRestart:
    """Ask for a restart; each request counts, so the same one twice is two."""

    connector: str
    include_tasks: bool
    only_failed: bool


@dataclass(frozen=True, slots=True)
class SetLoggerLevel:
    """Set a log level everywhere; each request counts, as workers may have been set apart since the last."""

    logger: str
    level: str


ConfigCommand: TypeAlias = (
    PutConnector
    | DeleteConnector
    | SetTargetState
    | PutTaskConfigs
    | RecordFencing
    | RequestRestart
    | SetLoggerLevel
)
