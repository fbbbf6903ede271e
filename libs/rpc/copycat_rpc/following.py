"""Following another service's watch for ever: snapshot, changes, and on from there after a lost stream."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Generic, Protocol, TypeAlias, TypeVar, assert_never

from copycat.types.v1 import types_pb2
from copycat_access.refusals import RoleNeededError, TokenRefusedError
from copycat_connect.errors import CopycatError, LogCompactedError
from copycat_connect.retry import RetryPolicy

from copycat_rpc.errors import code_of

log = logging.getLogger(__name__)

WATCH_RETRY = RetryPolicy(first=0.05, factor=2.0, ceiling=1.0)
#: A service that starts, or hands over to its standby, is away for some seconds: not worth a line in the log.
SILENT_FAILURES = 15
#: A user's token, or its roles: the same one, sent again and again, makes nothing but lines of the audit.
REFUSED_FOR_GOOD = frozenset({TokenRefusedError.code.name, RoleNeededError.code.name})


class WatchMessage(Protocol):
    """What every response of a watch has."""

    @property
    def revision(self) -> types_pb2.Revision:
        """Position in the log after this change."""

    @property
    def snapshot_complete(self) -> bool:
        """Whether this message ends the snapshot."""


M = TypeVar("M", bound=WatchMessage)


@dataclass(frozen=True, slots=True)
class FollowedSnapshot(Generic[M]):
    """All there was at a revision: it replaces what was known."""

    messages: Sequence[M]
    """The messages of the snapshot, complete."""
    revision: types_pb2.Revision
    """Where it was taken."""


@dataclass(frozen=True, slots=True)
class FollowedChange(Generic[M]):
    """A change that came after the snapshot."""

    message: M
    """What changed."""
    revision: types_pb2.Revision
    """Position after it."""


@dataclass(frozen=True, slots=True)
class Lost:
    """The stream ended and is opened again: what is known may be old until the next of the others."""


Followed: TypeAlias = FollowedSnapshot[M] | FollowedChange[M] | Lost
Open: TypeAlias = Callable[[types_pb2.Revision | None], AsyncIterable[M]]


async def followed(
    open_watch: Open[M], after: types_pb2.Revision | None = None
) -> AsyncGenerator[Followed[M], None]:
    """Yield what a watch says, for ever: a lost stream is opened again where it ended.

    `open_watch` starts the stream after a revision, or with a snapshot without one; a snapshot also
    comes when the revision to go on from is gone from the log.

    Raises:
        CopycatError: The token of the user who watches is refused, or lacks the role.
    """
    waits, failures = WATCH_RETRY.waits(), 0
    while True:
        try:
            async with aclosing(_read(open_watch(after), resumed=after is not None)) as read:
                async for event in read:
                    after, waits, failures = event.revision, WATCH_RETRY.waits(), 0
                    yield event
        except CopycatError as error:
            failures += 1
            code = code_of(error).name
            if code in REFUSED_FOR_GOOD:
                raise
            if code == LogCompactedError.code.name:
                after = None
            elif failures == SILENT_FAILURES:
                log.warning("a watch is interrupted and is tried again until it works: %s", error)
        yield Lost()
        await asyncio.sleep(next(waits))


async def follow(
    open_watch: Open[M],
    *,
    snapshot: Callable[[Sequence[M]], None],
    change: Callable[[M], None],
    lost: Callable[[], None] = lambda: None,
) -> None:
    """Follow a watch until cancelled and report each event of `followed` by a call."""
    async with aclosing(followed(open_watch)) as events:
        async for event in events:
            match event:
                case FollowedSnapshot(messages=messages):
                    snapshot(messages)
                case FollowedChange(message=message):
                    change(message)
                case Lost():
                    lost()
                case _:
                    assert_never(event)


async def _read(
    stream: AsyncIterable[M], *, resumed: bool
) -> AsyncGenerator[FollowedSnapshot[M] | FollowedChange[M], None]:
    pending: list[M] | None = None if resumed else []
    async for message in stream:
        if pending is None:
            yield FollowedChange(message, message.revision)
        elif message.snapshot_complete:
            yield FollowedSnapshot(pending, message.revision)
            pending = None
        else:
            pending.append(message)
