"""Reads that ask for a revision that is not there yet (I4)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from copycat.types.v1 import types_pb2


def beyond(revision: types_pb2.Revision) -> types_pb2.Revision:
    """Return the revision after one more record in the partition that has the most."""
    after = types_pb2.Revision(next=revision.next)
    fullest = max(revision.next, key=lambda partition: revision.next[partition])
    after.next[fullest] += 1
    return after


async def answer_after(
    read: Callable[[types_pb2.Revision], Awaitable[Any]],
    asked: types_pb2.Revision,
    write: Callable[[], Awaitable[Any]],
) -> Any:
    """Ask for a revision, let another read pass by, write, and return what the first read was answered."""
    reading = asyncio.ensure_future(read(asked))
    await read(types_pb2.Revision())  # on the same connection, so the server has both by now
    assert not reading.done()
    await write()
    async with asyncio.timeout(60):
        return await reading
