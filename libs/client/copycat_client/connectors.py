"""Connectors as the config service holds them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias, assert_never

from copycat.config.v1 import config_service_pb2 as pb
from copycat_connect.cluster import Config, TargetState
from copycat_rpc.messages import config_from_proto, target_state_from_proto


@dataclass(frozen=True, slots=True)
class Connector:
    """A connector, its target state and its tasks."""

    name: str
    """Unique name."""
    config: Config
    """Its configuration."""
    target_state: TargetState
    """What it should do."""
    tasks: tuple[Config, ...]
    """The configurations of its tasks, by number; none while the set is inconsistent."""
    inconsistent: bool
    """The task records make no whole set; the worker that owns the connector publishes a new one."""
    tasks_outdated: bool
    """The task set was made from an earlier configuration."""
    task_generation: int
    """Counts the task sets committed so far; 0 for the first."""


@dataclass(frozen=True, slots=True)
class Removed:
    """A connector is gone."""

    name: str
    """Its name."""


@dataclass(frozen=True, slots=True)
class RestartRequested:
    """Somebody asked for a restart."""

    connector: str
    """The connector."""
    include_tasks: bool
    """Its tasks, too."""
    only_failed: bool
    """Failed instances only."""


@dataclass(frozen=True, slots=True)
class LoggerLevelSet:
    """Somebody set a log level for the whole cluster."""

    logger: str
    """The logger's name."""
    level: str
    """The level's name, upper case."""


ConnectorChange: TypeAlias = Connector | Removed | RestartRequested | LoggerLevelSet


def connector_of(message: pb.Connector) -> Connector:
    """Read a connector."""
    return Connector(
        name=message.name,
        config=config_from_proto(message.config),
        target_state=target_state_from_proto(message.target_state) or TargetState.STARTED,
        tasks=tuple(map(config_from_proto, message.tasks)),
        inconsistent=message.inconsistent,
        tasks_outdated=message.tasks_outdated,
        task_generation=message.task_generation,
    )


def connector_change(message: pb.WatchConnectorsResponse) -> ConnectorChange:
    """Read a change."""
    match message.WhichOneof("change"):
        case "connector":
            return connector_of(message.connector)
        case "removed":
            return Removed(message.removed)
        case "restart":
            asked = message.restart
            return RestartRequested(asked.connector, asked.include_tasks, asked.only_failed)
        case "logger_level":
            return LoggerLevelSet(message.logger_level.logger, message.logger_level.level)
        case "snapshot_complete" | None:
            raise AssertionError  # the snapshot is over, and every change is one of the above
        case unknown:
            assert_never(unknown)
