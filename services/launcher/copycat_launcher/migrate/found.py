"""What was read from a cluster of Kafka Connect, over REST or from its topics: the same shape for both."""

from __future__ import annotations

from dataclasses import dataclass, field

from copycat_connect.cluster import Config


@dataclass(frozen=True, slots=True)
class Positions:
    """How far a connector has come: source offsets, or the positions of a sink's consumer group."""

    count: int | None
    """Partitions that have one; None where nobody can say."""
    unknown_because: str = ""
    """Why nobody can say."""


@dataclass(frozen=True, slots=True)
class FoundConnector:
    """One connector as the other cluster has it."""

    name: str
    config: Config = field(repr=False)
    """As it was written, placeholders and passwords included."""
    state: str
    """RUNNING, PAUSED, STOPPED, FAILED ...; empty where it has reported nothing."""
    task_states: tuple[str, ...]
    """Of its tasks, in their order."""
    positions: Positions


@dataclass(frozen=True, slots=True)
class FoundCluster:
    """A cluster of Kafka Connect."""

    source: str
    """Where it was read from, for people."""
    connectors: tuple[FoundConnector, ...]
    """By name."""
    notes: tuple[str, ...] = ()
    """What could not be read and does not stop the judgement."""
