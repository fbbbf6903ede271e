"""What a user wants a connector to do."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType
from typing import Final


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
