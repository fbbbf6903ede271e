"""The facts of the status topic, one per record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from copycat_connect.cluster import Instance

from copycat_status.domain.status import Status


@dataclass(frozen=True, slots=True)
class StatusSet:
    """An instance has this status."""

    instance: Instance
    status: Status


@dataclass(frozen=True, slots=True)
class StatusForgotten:
    """An instance is gone."""

    instance: Instance


@dataclass(frozen=True, slots=True)
class TopicActive:
    """A connector uses a topic, noticed by one of its tasks (KIP-558)."""

    topic: str
    connector: str
    task: int
    discovered_ms: int
    """Milliseconds since the epoch."""


@dataclass(frozen=True, slots=True)
class TopicForgotten:
    """A connector's use of a topic is forgotten."""

    topic: str
    connector: str


StatusEvent: TypeAlias = StatusSet | StatusForgotten | TopicActive | TopicForgotten
