"""Reads over gRPC: of the state that shows a revision (I4), and watches of every change since.

A watch is a snapshot, marked complete with its revision, then every later change in log order.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from typing import Any, Generic, Literal, Protocol, TypeVar

from copycat.types.v1 import types_pb2
from copycat_eventlog.handler import EventSourced
from copycat_eventlog.log import Revision
from copycat_eventlog.watch import LoggedChange, LogSnapshot

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


class WatchResponse(Protocol):
    """What every response of a watch has."""

    @property
    def revision(self) -> types_pb2.Revision:
        """Position in the log after this change."""


W = TypeVar("W", bound=WatchResponse)


async def stream_watch(
    events: EventSourced[C, E, S],
    request: Any,
    *,
    snapshot: Callable[[S], Iterable[W]],
    change: Callable[[E, S], Iterable[W]],
    complete: Callable[[], W],
    trace: Callable[[W, str], None] | None = None,
) -> AsyncIterator[W]:
    """Yield the messages of a watch, each stamped with the revision to resume from.

    `request.after_revision`, when set, resumes instead of sending a snapshot. A message of the snapshot
    carries no revision: a stream lost in the middle of it has to start anew. `trace` notes in a change which
    span led to it.

    Raises:
        LogCompactedError: The point to resume from is gone, or this watcher is too slow.
    """
    after = revision_from_proto(request.after_revision) if request.HasField("after_revision") else None
    async for item in events.watch(after):
        match item:
            case LogSnapshot(state=state, revision=revision):
                for message in snapshot(state):
                    yield message
                last = complete()
                last.revision.CopyFrom(revision_to_proto(revision))
                yield last
            case LoggedChange(event=event, state=state, revision=revision, traceparent=traceparent):
                stamp = revision_to_proto(revision)
                for message in change(event, state):
                    message.revision.CopyFrom(stamp)
                    if trace is not None and traceparent:
                        trace(message, traceparent)
                    yield message


F = TypeVar("F")
M = TypeVar("M")


class Rendering(Generic[F, M]):
    """Makes the message of each name's facts once.

    No second truth beside the fold: facts never change but are replaced, so a message holds exactly as long
    as the very same facts stand under its name.
    """

    def __init__(self, make: Callable[[str, F], M | None]) -> None:
        """`make` returns the message of a name, or None where there is nothing to show."""
        self._make = make
        self._made: dict[str, tuple[F, M | None]] = {}

    def messages(self, facts: Mapping[str, F]) -> list[M]:
        """Return the messages of a state by name; they are shared, so nobody may change them."""
        self._made = {name: self._of(name, facts[name]) for name in sorted(facts)}
        return [message for _, message in self._made.values() if message is not None]

    def _of(self, name: str, facts: F) -> tuple[F, M | None]:
        known = self._made.get(name)
        return known if known is not None and known[0] is facts else (facts, self._make(name, facts))
