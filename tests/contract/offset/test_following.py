"""Following a watch through everything that ends a stream."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

from copycat.scheduler.v1.scheduler_service_pb2 import Instance, WatchAssignmentsResponse
from copycat.types.v1.types_pb2 import Revision
from copycat_connect.errors import ErrorCode, LogCompactedError, UnavailableError
from copycat_rpc.errors import RemoteError
from copycat_rpc.following import follow
from copycat_serving.beside import beside

COMPACTED = RemoteError(ErrorCode(LogCompactedError.code.name, "OUT_OF_RANGE", 500), "gone")


def _change(name: str, position: int) -> WatchAssignmentsResponse:
    return WatchAssignmentsResponse(removed=Instance(connector=name), revision=Revision(next={0: position}))


def _complete(position: int) -> WatchAssignmentsResponse:
    return WatchAssignmentsResponse(snapshot_complete=True, revision=Revision(next={0: position}))


async def _heard(*streams: tuple[WatchAssignmentsResponse | Exception, ...]) -> list[str]:
    """Follow these streams one after the other, and tell all that was heard."""
    heard, left, over = list[str](), list(streams), asyncio.Event()

    async def watch(after: Revision | None) -> AsyncIterator[WatchAssignmentsResponse]:
        heard.append(f"from {after.next[0]}" if after else "from start")
        for message in left.pop(0):
            if isinstance(message, Exception):
                raise message
            yield message
        if not left:
            over.set()
            await asyncio.Event().wait()

    async with AsyncExitStack() as stack:
        await stack.enter_async_context(
            beside(
                lambda: follow(
                    watch,
                    snapshot=lambda all_of: heard.append(",".join(m.removed.connector for m in all_of)),
                    change=lambda message: heard.append(message.removed.connector),
                )
            )
        )
        async with asyncio.timeout(60):
            await over.wait()
    return heard


async def test_a_snapshot_comes_whole_and_changes_one_by_one() -> None:
    heard = await _heard((_change("a", 0), _change("b", 0), _complete(2), _change("c", 3)))
    assert heard == ["from start", "a,b", "c"]


async def test_a_lost_stream_is_resumed_after_the_last_change() -> None:
    heard = await _heard(
        (_complete(2), _change("c", 3), UnavailableError("away")),
        (UnavailableError("away"),),
        (_change("d", 4),),
    )
    assert heard == ["from start", "", "c", "from 3", "from 3", "d"]


async def test_half_a_snapshot_is_forgotten() -> None:
    heard = await _heard((_change("a", 0), UnavailableError("away")), (_change("b", 0), _complete(1)))
    assert heard == ["from start", "from start", "b"]


async def test_when_the_point_to_resume_from_is_gone_a_snapshot_is_asked_for() -> None:
    heard = await _heard((_complete(2),), (COMPACTED,), (_change("a", 0), _complete(9)))
    assert heard == ["from start", "", "from 2", "from start", "a"]
