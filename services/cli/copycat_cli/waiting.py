"""Watch connectors until they are as wanted."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from copycat_rest.answers import ConnectorStateInfo

from copycat_cli.api.connectors import get_connector
from copycat_cli.api.statuses import FAILED, RUNNING, failed, get_statuses, instances, reason
from copycat_cli.errors import FailedStateError, LateError

if TYPE_CHECKING:
    from copycat_cli.rest import Rest

POLL_SECONDS = 0.25
FAILED_SECONDS = 5.0
"""A restart under way still shows what failed before; after this long it is believed."""


def watch(
    rest: Rest, connectors: Sequence[str], seconds: float, ended: SimpleQueue[None]
) -> Iterator[list[ConnectorStateInfo]]:
    """Yield the statuses again and again, so many seconds apart, until something is put into `ended`."""
    while True:
        yield get_statuses(rest, connectors)
        try:
            ended.get(timeout=seconds)
        except Empty:
            continue
        return


def wait_for(
    rest: Rest, connectors: Sequence[str], wanted: str, seconds: float
) -> Iterator[list[ConnectorStateInfo]]:
    """Yield statuses until each connector and all its tasks are in a state; FAILED is reached by any.

    Without names all connectors that are there at each look are waited for.

    Raises:
        FailedStateError: Something stays FAILED instead.
        LateError: It took too long.
    """
    deadline = time.monotonic() + seconds
    failed_since: float | None = None
    while True:
        statuses = get_statuses(rest, connectors)
        yield statuses
        missing = [status for status in statuses if not _reached(rest, status, wanted)]
        if not missing:
            return
        now = time.monotonic()
        broken = [status for status in statuses if failed(status)]
        failed_since = (failed_since or now) if broken else None
        if failed_since is not None and now - failed_since > min(FAILED_SECONDS, seconds / 2):
            raise FailedStateError("\n".join(map(_failure, broken)), [status.name for status in broken])
        if now > deadline:
            raise LateError(
                f"{'; '.join(map(summary, statuses))}: not {wanted} within {seconds:g} s",
                [status.name for status in missing],
            )
        time.sleep(POLL_SECONDS)


def summary(status: ConnectorStateInfo) -> str:
    """Return a status in one line."""
    tasks = ", ".join(f"task {task.id} {task.state}" for task in status.tasks) or "no tasks"
    return f"{status.name} is {status.connector.state}, {tasks}"


def _reached(rest: Rest, status: ConnectorStateInfo, wanted: str) -> bool:
    if wanted == FAILED:
        return bool(failed(status))
    if any(each.state != wanted for each in instances(status)):
        return False
    # What was configured and has not reported yet does not run yet; nor does a connector without tasks.
    return wanted != RUNNING or len(status.tasks) >= max(1, len(get_connector(rest, status.name).tasks))


def _failure(status: ConnectorStateInfo) -> str:
    return f"{summary(status)}: {reason(failed(status)[0])}"
