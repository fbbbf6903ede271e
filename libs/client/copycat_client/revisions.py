"""Positions in a service's log, and answers that carry one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from copycat.types.v1 import types_pb2

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Revision:
    """A position in the log of one service; hand it back to that service and to no other."""

    next: Mapping[int, int]
    """Partition to next offset; a partition not named is at 0."""


@dataclass(frozen=True, slots=True)
class At(Generic[T]):
    """What was read, and when in the life of its log."""

    value: T
    """The answer."""
    revision: Revision
    """The revision it was read at."""


def revision_of(message: types_pb2.Revision) -> Revision:
    """Return the revision of a message."""
    return Revision(dict(message.next))


def revision_message(revision: Revision | None) -> types_pb2.Revision | None:
    """Return the message of a revision."""
    return None if revision is None else types_pb2.Revision(next=revision.next)
