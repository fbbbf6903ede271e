"""Watches as iterators of values; a lost stream is resumed behind them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar, assert_never

from copycat_rpc import following

from copycat_client.revisions import Revision, revision_message, revision_of

T = TypeVar("T")
C = TypeVar("C")
M = TypeVar("M", bound=following.WatchMessage)


@dataclass(frozen=True, slots=True)
class Snapshot(Generic[T]):
    """All there is at a revision: it replaces what was known."""

    items: tuple[T, ...]
    """Everything, in the service's order."""
    revision: Revision
    """When; a later watch may go on from here."""


@dataclass(frozen=True, slots=True)
class Change(Generic[C]):
    """One change, in log order."""

    item: C
    """What there is now, or what is gone."""
    revision: Revision
    """Position after it; a later watch may go on from here."""


@dataclass(frozen=True, slots=True)
class Stale:
    """The service is away: what is known may be old until the next item of another kind."""


Watch: TypeAlias = AsyncGenerator[Snapshot[T] | Change[C] | Stale, None]
"""Ends when its reader closes it (`contextlib.aclosing`) or stops, or with the refusal of a user's token."""


async def watch(
    open_watch: following.Open[M],
    after: Revision | None,
    *,
    item: Callable[[M], T],
    change: Callable[[M], C],
) -> Watch[T, C]:
    """Yield what a watch says as values.

    Args:
        open_watch: Opens the service's stream.
        after: Where to go on; nothing begins with a snapshot.
        item: Reads a message of a snapshot.
        change: Reads a later message.
    """
    async with aclosing(following.followed(open_watch, revision_message(after))) as events:
        async for event in events:
            match event:
                case following.FollowedSnapshot(messages=messages, revision=revision):
                    yield Snapshot(tuple(map(item, messages)), revision_of(revision))
                case following.FollowedChange(message=message, revision=revision):
                    yield Change(change(message), revision_of(revision))
                case following.Lost():
                    yield Stale()
                case _:
                    assert_never(event)
