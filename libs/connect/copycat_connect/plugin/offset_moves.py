"""Moves of a source's offsets, and what they would do: asked before anything is changed."""

from __future__ import annotations

from dataclasses import dataclass

from copycat_connect.plugin.contexts import SourceOffset, SourcePartition


@dataclass(frozen=True, slots=True)
class OffsetMove:
    """A source partition that would go from one offset to another."""

    partition: SourcePartition
    """The source partition."""
    before: SourceOffset | None
    """Its offset now; None where it has none, and begins at its start."""
    after: SourceOffset | None
    """The offset it would have; None: it would begin at its start."""


@dataclass(frozen=True, slots=True)
class OffsetEffect:
    """What a move would do; where the count is not exact, the most that it can be."""

    repeated: int | None
    """How much would be delivered once more; None when that is unknown."""
    skipped: int | None
    """How much would never be delivered; None when that is unknown."""
    unit: str = "records"
    """What is counted, in the plural."""
