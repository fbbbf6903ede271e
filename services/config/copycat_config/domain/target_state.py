"""What a user wants a connector to do."""

from __future__ import annotations

from enum import Enum


class TargetState(Enum):
    """Kafka Connect's target states; the values are their names in the log."""

    STARTED = "STARTED"
    PAUSED = "PAUSED"
    STOPPED = "STOPPED"
