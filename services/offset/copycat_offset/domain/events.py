"""Facts of the offsets topic: how far a connector has come in each of its source partitions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class SourceOffsetCommitted:
    """The newest offset of a source partition."""

    connector: str
    """Connector name."""
    partition: bytes
    """JSON text of the source partition map; its bytes are its identity."""
    offset: bytes
    """JSON text of the source offset map."""


@dataclass(frozen=True, slots=True)
class SourceOffsetForgotten:
    """The source partition has no offset any more."""

    connector: str
    """Connector name."""
    partition: bytes
    """JSON text of the source partition map."""


OffsetEvent: TypeAlias = SourceOffsetCommitted | SourceOffsetForgotten
