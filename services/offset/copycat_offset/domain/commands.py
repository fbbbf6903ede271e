"""What may be asked of the offset service."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from copycat_offset.domain.changes import OffsetsChange


@dataclass(frozen=True, slots=True)
class CommitSourceOffsets:
    """A task delivered records up to these offsets."""

    connector: str
    """Connector name."""
    task: int
    """Task index."""
    generation: int
    """The assignment generation the task runs under."""
    newest: int | None
    """The newest generation the scheduler is known to have given this task; None when none is known."""
    offsets: Mapping[bytes, bytes | None]
    """Source partition to newest offset; None forgets the partition."""
    expected: Mapping[bytes, bytes | None] = field(default_factory=dict)
    """Source partition to the offset that must be committed until now; None where there must be none."""


@dataclass(frozen=True, slots=True)
class AlterSourceOffsets:
    """A user sets or forgets offsets while the connector is stopped."""

    connector: str
    """Connector name."""
    offsets: Mapping[bytes, bytes | None]
    """Source partition to new offset; None forgets the partition."""


@dataclass(frozen=True, slots=True)
class RememberChange:
    """A user is about to change offsets, or has undone that."""

    change: OffsetsChange
    """It takes the place of the one before."""


OffsetCommand: TypeAlias = CommitSourceOffsets | AlterSourceOffsets | RememberChange
