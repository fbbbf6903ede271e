"""The loop that corrects statuses after each plan."""

from __future__ import annotations

import asyncio
import logging

from copycat_connect.errors import CopycatError

from copycat_scheduler.adapters.planning import Planning
from copycat_scheduler.adapters.statuses import Statuses

log = logging.getLogger(__name__)

AFTER_FAILURE = 1.0
#: Statuses change by the hundred when a cluster starts; they are looked at together.
PAUSE = 0.05


async def keep_up(planning: Planning, statuses: Statuses, due: asyncio.Event) -> None:
    """Correct statuses until cancelled; a failure is tried again, planning does not wait for it."""
    while True:
        await due.wait()
        await asyncio.sleep(PAUSE)
        due.clear()
        try:
            await statuses.correct(planning.upkeep())
        except CopycatError as error:
            log.warning("cannot correct statuses at the moment: %s", error)
            await asyncio.sleep(AFTER_FAILURE)
            due.set()
