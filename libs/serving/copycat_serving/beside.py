"""Work that goes on while a service serves: loops and followers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any


@asynccontextmanager
async def beside(*works: Callable[[], Coroutine[Any, Any, object]]) -> AsyncIterator[None]:
    """Run works until the body ends; they are cancelled then.

    When one of them fails, the body is cancelled and the failure raised: a service must not go on without it.
    """
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(work()) for work in works]
            yield
            for task in tasks:
                task.cancel()
    except BaseExceptionGroup as failures:
        raise failures.exceptions[0] from None
