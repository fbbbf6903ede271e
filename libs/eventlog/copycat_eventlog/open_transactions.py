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
    "a transaction is open there. It ends with its producer's next word or its time-out; if the brokers have "
    "forgotten it, which Kafka does now and then when its only broker is killed, end it with "
    "`kafka-transactions.sh find-hanging` and `kafka-transactions.sh abort`"
)


@asynccontextmanager
async def telling_what_holds_it_up(
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
                behind=", ".join(_behind(now, end)),
                why=_REMEDY,
            )


def _behind(position: Revision, end: Revision) -> list[str]:
    """Return each partition that is not read to its end, with the first record that is not shown."""
    return [
        f"partition {partition} from offset {position.next.get(partition, 0)}"
        for partition, offset in sorted(end.next.items())
        if position.next.get(partition, 0) < offset
    ]
