"""Log positions on the wire, and reads that ask for one (I4)."""

from __future__ import annotations

from typing import Literal, Protocol, TypeVar

from copycat.types.v1 import types_pb2
from copycat_eventlog.handler import EventSourced
from copycat_eventlog.log import Revision

C = TypeVar("C")
E = TypeVar("E")
S = TypeVar("S")


class ReadRequest(Protocol):
    """What the request of every read from a log has."""

    @property
    def min_revision(self) -> types_pb2.Revision:
        """The least revision the caller takes an answer of."""

    def HasField(self, field_name: Literal["min_revision"], /) -> bool:
        """Return whether the caller set it."""


async def read_state(events: EventSourced[C, E, S], request: ReadRequest) -> tuple[S, types_pb2.Revision]:
    """Return the state a read is answered from and its revision, once it shows what the caller asks for.

    Waits for `request.min_revision` where that is set, until the call's deadline ends the wait.

    Raises:
        UnavailableError: The service stopped before.
    """
    if request.HasField("min_revision"):
        await events.reached(revision_from_proto(request.min_revision))
    return events.state, revision_to_proto(events.revision)


def revision_to_proto(revision: Revision) -> types_pb2.Revision:
    """Return the message of a revision."""
    return types_pb2.Revision(next=dict(revision.next))


def revision_from_proto(message: types_pb2.Revision) -> Revision:
    """Return the revision of a message."""
    return Revision(dict(message.next))
