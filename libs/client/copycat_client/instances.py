"""Connectors and their tasks, and the configurations they share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from copycat.scheduler.v1 import scheduler_service_pb2 as scheduler_pb2
from copycat.status.v1 import status_service_pb2 as status_pb2

Config: TypeAlias = Mapping[str, str | None]
"""A raw configuration in the order it was given; placeholders of secrets are never resolved."""


@dataclass(frozen=True, slots=True)
class Instance:
    """A connector, or one of its tasks."""

    connector: str
    """The connector's name."""
    task: int | None = None
    """The task's number; nothing for the connector itself."""


def instance_of(message: scheduler_pb2.Instance | status_pb2.InstanceStatus) -> Instance:
    """Return the instance a message names."""
    return Instance(message.connector, message.task if message.HasField("task") else None)
