"""The one loop that sends until it works."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from copycat_connect.errors import CopycatError
from copycat_connect.retry import RetryPolicy

from copycat_executor.peers import is_transient

log = logging.getLogger(__name__)

T = TypeVar("T")

#: A service that starts, or hands over to its standby, is away for some seconds: not worth a line in the log.
SILENT_FAILURES: Final = 10


async def until_it_works(
    attempt: Callable[[], Awaitable[T]],
    retry: RetryPolicy,
    *,
    complaint: str = "",
    log_every_failure: bool = False,
    passes: Callable[[CopycatError], bool] = is_transient,
    pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> T:
    """Call `attempt` until it succeeds, waiting in between; returns its result.

    `attempt` looks anew at what waits to be sent, so that what came meanwhile replaces what failed.
    `complaint`, where there is one, is logged with the error: once, after ten failures in a row, or with
    every failure. `pause` waits between two tries.

    Raises:
        CopycatError: An error that will not pass, as `passes` judges.
    """
    waits, failures = retry.waits(), 0
    while True:
        try:
            return await attempt()
        except CopycatError as error:
            if not passes(error):
                raise
            failures += 1
            if complaint and (log_every_failure or failures == SILENT_FAILURES):
                log.warning("%s: %s", complaint, error)
        await pause(next(waits))
