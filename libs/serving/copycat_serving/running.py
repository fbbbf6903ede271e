"""The life of an event-sourced service: fold, serve, stop; and an end that a supervisor notices."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, TypeVar

from copycat_connect.errors import CopycatError
from copycat_connect.first import first, unless
from copycat_eventlog.handler import EventSourced
from copycat_eventlog.unreadable import Unreadable
from copycat_rpc.methods import CALL_TIMEOUT_SECONDS
from copycat_rpc.server import RpcServer
from copycat_telemetry.metrics.definitions import Reading, Value
from copycat_telemetry.metrics.groups import (
    EVENT_LOG,
    LAST_UNREADABLE_RECORD,
    LOST_BECAUSE,
    UNREADABLE_RECORDS,
)

C = TypeVar("C")
E = TypeVar("E")
S = TypeVar("S")
Ready = Callable[[str], None]
#: For calls under way when the service stops: no caller waits longer by itself.
DRAIN_SECONDS = CALL_TIMEOUT_SECONDS
#: For streams to end, and for calls under way when the log has crashed.
STOP_GRACE_SECONDS = 5.0


@asynccontextmanager
async def _nothing_beside() -> AsyncIterator[None]:
    yield


async def serve_events(
    events: EventSourced[C, E, S],
    server: RpcServer,
    stop: asyncio.Event,
    ready: Ready = lambda _: None,
    beside: AbstractAsyncContextManager[Any] | None = None,
) -> None:
    """Fold the log, then serve until `stop`; `beside` runs while the service does (clients, loops).

    The port is bound first, and calls are held until the log is folded: a caller waits instead of failing or
    reading half a fold. Health says SERVING from then on.

    When it stops (I7), new calls are refused and go to another instance, those under way are finished with
    all that takes: the leadership, the fold, and what runs beside. Then the leadership is given up, while
    calls are still refused, and only then the port is.

    Raises:
        CopycatError: The address or the log cannot be had, or the log crashed: the process should end and
        be started again.
    """
    server.hold()
    address = await server.start()
    try:
        if not await _started(events, stop):
            return
        async with beside or _nothing_beside():
            await server.set_serving(True)
            ready(address)
            await _until(stop, events.crashed())
            events.end_watches()
            await server.drain(DRAIN_SECONDS)
    finally:
        events.end_watches()
        await server.drain(STOP_GRACE_SECONDS)
        await events.stop()
        await server.stop(STOP_GRACE_SECONDS)


async def _started(events: EventSourced[C, E, S], stop: asyncio.Event) -> bool:
    """Start the log unless stopped first: a broker that is away may take its time."""
    return await unless(events.start(), stop)


async def _until(stop: asyncio.Event, crashed: Coroutine[Any, Any, BaseException]) -> None:
    _, crash = await first(stop.wait(), crashed)
    if not crash.cancelled():
        error = crash.result()
        raise CopycatError(
            f"The event log failed ({type(error).__name__}: {error}); start this service again"
        ) from error


def log_reading(events: EventSourced[Any, Any, Any], *others: Unreadable) -> Reading:
    """Return whether this instance writes, and whether there is still what it writes to.

    And what it could not read: of its log, and of `others`.
    """
    found = [each for each in (events.unreadable, *others) if each.records]
    values: dict[str, Value] = {
        "leads": float(events.leads),
        "lost": float(bool(events.trouble)),
        UNREADABLE_RECORDS: float(sum(each.records for each in found)),
    }
    if events.trouble:
        values[LOST_BECAUSE] = events.trouble
    if found:
        values[LAST_UNREADABLE_RECORD] = max(found, key=lambda each: each.at).last
    return Reading(EVENT_LOG, {}, values)
