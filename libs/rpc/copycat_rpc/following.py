"""Following another service's watch for ever: snapshot, changes, and on from there after a lost stream."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Sequence
from contextlib import aclosing
from typing import Protocol, TypeVar

from copycat.types.v1 import types_pb2
from copycat_connect.errors import CopycatError, LogCompactedError
from copycat_connect.retry import RetryPolicy

from copycat_rpc.errors import code_of

log = logging.getLogger(__name__)

AGAIN = RetryPolicy(first=0.05, factor=2.0, ceiling=1.0)
#: A service that starts, or hands over to its standby, is away for some seconds: that is no news.
SILENT_FAILURES = 15


class WatchMessage(Protocol):
    """What every response of a watch has."""

    @property
    def revision(self) -> types_pb2.Revision:
        """Position after this change."""

    @property
    def snapshot_complete(self) -> bool:
        """Whether this message ends the snapshot."""


M = TypeVar("M", bound=WatchMessage)


async def follow(
    open_watch: Callable[[types_pb2.Revision | None], AsyncIterable[M]],
    *,
    snapshot: Callable[[Sequence[M]], None],
    change: Callable[[M], None],
    lost: Callable[[], None] = lambda: None,
) -> None:
    """Follow a watch until cancelled.

    `open_watch` starts the stream after a revision, or with a snapshot when there is none. `snapshot` gets
    all messages of a complete snapshot and replaces what was known; `change` gets every later message; `lost`
    is called when the stream ended: what is known may be old until the next call of the others.
    """
    after: types_pb2.Revision | None = None
    waits, failures = AGAIN.waits(), 0
    while True:
        try:
            async with aclosing(_read(open_watch(after), after is not None, snapshot, change)) as revisions:
                async for reached in revisions:
                    after, waits, failures = reached, AGAIN.waits(), 0
        except CopycatError as error:
            failures += 1
            if code_of(error).name == LogCompactedError.code.name:
                after = None
            elif failures == SILENT_FAILURES:
                log.warning("a watch cannot be resumed and is tried for ever: %s", error)
        lost()
        await asyncio.sleep(next(waits))


async def _read(
    stream: AsyncIterable[M],
    resumed: bool,
    snapshot: Callable[[Sequence[M]], None],
    change: Callable[[M], None],
) -> AsyncGenerator[types_pb2.Revision, None]:
    pending: list[M] | None = None if resumed else []
    async for message in stream:
        if pending is None:
            change(message)
        elif message.snapshot_complete:
            snapshot(pending)
            pending = None
        else:
            pending.append(message)
        if pending is None:
            yield message.revision
