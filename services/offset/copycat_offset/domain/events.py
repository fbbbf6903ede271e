"""Facts of the offsets topic: how far a source has come in each of its partitions, and who moved it last."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from copycat_offset.domain.changes import OffsetsChange


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


@dataclass(frozen=True, slots=True)
class ChangeRemembered:
    """The last change of a connector's offsets, source or sink, that a user asked for."""

    change: OffsetsChange
    """The whole of it."""

    @property
    def connector(self) -> str:
        """Connector name."""
        return self.change.connector


@dataclass(frozen=True, slots=True)
class ChangeForgotten:
    """No change of this connector's offsets is remembered any more."""

    connector: str
    """Connector name."""


OffsetEvent: TypeAlias = SourceOffsetCommitted | SourceOffsetForgotten | ChangeRemembered | ChangeForgotten
