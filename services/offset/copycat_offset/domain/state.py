"""The fold of the offsets topic."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

import immutables

Partitions: TypeAlias = "immutables.Map[bytes, bytes]"
NO_PARTITIONS: Partitions = immutables.Map()


@dataclass(frozen=True, slots=True)
class OffsetState:
    """Every known source offset."""

    connectors: immutables.Map[str, Partitions] = field(default_factory=immutables.Map)
    """Connector to source partition to offset; a connector without offsets is not in it."""
