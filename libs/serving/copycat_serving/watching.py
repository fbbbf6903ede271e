"""A watch over gRPC: a snapshot, marked complete with its revision, then every later change in log order."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable
from typing import Any, Protocol, TypeVar

from copycat.types.v1 import types_pb2
from copycat_eventlog.handler import EventSourced
from copycat_eventlog.watch import Change, Snapshot

from copycat_serving.revisions import revision_from_proto, revision_to_proto


class WatchMessage(Protocol):
    """What every response of a watch has."""

    @property
    def revision(self) -> types_pb2.Revision:
        """Position in the log after this change."""


C = TypeVar("C")
E = TypeVar("E")
S = TypeVar("S")
M = TypeVar("M", bound=WatchMessage)


async def stream_watch(
    events: EventSourced[C, E, S],
    request: Any,
    *,
    snapshot: Callable[[S], Iterable[M]],
    change: Callable[[E, S], Iterable[M]],
    complete: Callable[[], M],
    trace: Callable[[M, str], None] | None = None,
) -> AsyncIterator[M]:
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
            case Snapshot(state=state, revision=revision):
                for message in snapshot(state):
                    yield message
                last = complete()
                last.revision.CopyFrom(revision_to_proto(revision))
                yield last
            case Change(event=event, state=state, revision=revision, traceparent=traceparent):
                stamp = revision_to_proto(revision)
                for message in change(event, state):
                    message.revision.CopyFrom(stamp)
                    if trace is not None and traceparent:
                        trace(message, traceparent)
                    yield message
