"""The fold of the offsets topic."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

import immutables

from copycat_offset.domain.changes import OffsetsChange

Partitions: TypeAlias = "immutables.Map[bytes, bytes]"
NO_PARTITIONS: Partitions = immutables.Map()


@dataclass(frozen=True, slots=True)
class OffsetState:
    """Every known source offset, and the last change of each connector."""

    connectors: immutables.Map[str, Partitions] = field(default_factory=immutables.Map)
    """Connector to source partition to offset; a connector without offsets is not in it."""
    changes: immutables.Map[str, OffsetsChange] = field(default_factory=immutables.Map)
    """Connector to the last change that a user made of its offsets."""
