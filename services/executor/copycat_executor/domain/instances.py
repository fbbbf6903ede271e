"""Configurations, and what a user wants them to do."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import TypeAlias

Config: TypeAlias = Mapping[str, str | None]
"""A raw configuration; `${...}` placeholders are never resolved in this room."""


class Target(Enum):
    """What a user wants a connector to do."""

    STARTED = "STARTED"
    PAUSED = "PAUSED"
    STOPPED = "STOPPED"
