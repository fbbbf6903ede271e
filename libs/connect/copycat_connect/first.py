"""Wait for the first of several things; the others are cancelled, and have ended when the wait does."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar, overload

A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")


@overload
async def first(one: Coroutine[Any, Any, A], /) -> tuple[asyncio.Task[A]]: ...
@overload
async def first(
    one: Coroutine[Any, Any, A], two: Coroutine[Any, Any, B], /
) -> tuple[asyncio.Task[A], asyncio.Task[B]]: ...
@overload
async def first(
    one: Coroutine[Any, Any, A], two: Coroutine[Any, Any, B], three: Coroutine[Any, Any, C], /
) -> tuple[asyncio.Task[A], asyncio.Task[B], asyncio.Task[C]]: ...
@overload
async def first(*work: Coroutine[Any, Any, A]) -> tuple[asyncio.Task[A], ...]: ...
async def first(*work: Coroutine[Any, Any, Any]) -> tuple[asyncio.Task[Any], ...]:
    """Do all of it side by side until something is done, and cancel the rest.

    Returns:
        A task for each, in this order. What was done in time is not `cancelled()`; the caller asks for its
        `result()`, which may be an error.
    """
    tasks = tuple(asyncio.ensure_future(each) for each in work)
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    return tasks


async def unless(work: Coroutine[Any, Any, object], event: asyncio.Event) -> bool:
    """Do the work, or give it up when the event comes first; returns whether it was done."""
    doing, _ = await first(work, event.wait())
    if doing.cancelled():
        return False
    doing.result()
    return True
