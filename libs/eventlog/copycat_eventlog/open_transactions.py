"""Say so when the fold of a log does not reach its end: a transaction that nobody ends holds it up."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

from copycat_telemetry.changes import log_change

from copycat_eventlog.log import Revision

log = logging.getLogger(__name__)

#: Between two looks whether the fold has moved on; transactions of the services end sooner.
LOOK_INTERVAL_SECONDS: Final = 15.0
_REMEDY: Final = (
    "a transaction is open there. It ends with its producer's next word or its time-out. If the brokers have "
    "forgotten it, which happens when the only broker of a partition stops, the instance that leads ends it, "
    "unless another program began it: then end it with `kafka-transactions.sh find-hanging` and "
    "`kafka-transactions.sh abort`"
)


@asynccontextmanager
async def warning_of_open_transactions(
    topic: str, position: Callable[[], Revision], end: Revision, every: float = LOOK_INTERVAL_SECONDS
) -> AsyncIterator[None]:
    """Log a warning as long as the block waits for `end` and the fold stands still; `every` is seconds."""
    watching = asyncio.create_task(_watch(topic, position, end, every))
    try:
        yield
    finally:
        watching.cancel()


async def _watch(topic: str, position: Callable[[], Revision], end: Revision, every: float) -> None:
    while True:
        before = position()
        await asyncio.sleep(every)
        now = position()
        if now.next == before.next:
            log_change(
                log,
                "the log cannot be read to its end",
                logging.WARNING,
                topic=topic,
                behind=", ".join(
                    f"partition {partition} from offset {offset}"  # the first record that is not shown
                    for partition, offset in now.behind(end).items()
                ),
                why=_REMEDY,
            )
