"""One write, again and again until it is visible or given up (retry KIP)."""

from __future__ import annotations

import logging
import random
from asyncio import sleep
from collections.abc import Awaitable, Callable
from typing import assert_never

from copycat_connect.errors import CopycatError, NotWriterError, OutcomeUnknownError, UnavailableError
from copycat_connect.retry import RetryPolicy
from copycat_eventlog.log import Revision
from copycat_telemetry.changes import log_change

from copycat_status.adapters.counters import WriteCounters
from copycat_status.adapters.event_sourced import StatusEvents
from copycat_status.domain.commands import (
    ForgetStatuses,
    ReportStatuses,
    ReportTopics,
    ResetTopics,
    StatusCommand,
)

log = logging.getLogger(__name__)


class Retrying:
    """Executes commands with bounded back-off while the log is away, and counts what became of them."""

    def __init__(
        self,
        events: StatusEvents,
        backoff: RetryPolicy,
        *,
        sleep: Callable[[float], Awaitable[None]] = sleep,
        random: Callable[[], float] = random.random,
    ) -> None:
        self.events = events
        self.counters = WriteCounters()
        self._backoff = backoff
        self._sleep = sleep
        self._random = random

    async def write(self, next_command: Callable[[], StatusCommand | None]) -> Revision:
        """Execute a command and return the revision that shows it; before each try it is asked for anew.

        No command means that nothing is left to write.

        Raises:
            NotWriterError: This instance is a standby: the caller goes to the writer.
            UnavailableError: Given up; the update may or may not be in the log.
            CopycatError: The refusal of the decision.
        """
        retries = 0
        while (command := next_command()) is not None:
            led = self.events.leads
            try:
                outcome = await self.events.execute(command)
            except NotWriterError as error:
                if not led and retries == 0:
                    raise
                self._count(command, retries, error)
            except (OutcomeUnknownError, UnavailableError) as error:
                self._count(command, retries, error)
            except CopycatError as error:
                self._lose(command, retries, error)
                raise
            else:
                self.counters.successes += len(outcome.events)
                return outcome.revision
            await self.pause(retries)
            retries += 1
        return self.events.revision

    async def pause(self, retries: int) -> None:
        """Wait as long as is due after so many retries."""
        await self._sleep(self._backoff.wait(retries, self._random()))

    async def long_pause(self) -> None:
        """Wait as long as after the last try of a write that is given up."""
        await self.pause(self._backoff.max_retries or 0)

    def _count(self, command: StatusCommand, retries: int, error: CopycatError) -> None:
        limit = self._backoff.max_retries
        if limit is not None and retries >= limit:
            self._lose(command, retries, error)
            message = f"The status log is away: gave up after {retries} retries ({error.message})"
            raise UnavailableError(message) from error
        self.counters.retries += len(_updates(command))

    def _lose(self, command: StatusCommand, retries: int, error: CopycatError) -> None:
        """Never silently: the caller may be gone by now."""
        for update in _updates(command):
            self.counters.failures += 1
            log_change(
                log, "status update given up", logging.ERROR, **update, retries=retries, why=error.message
            )


def _updates(command: StatusCommand) -> list[dict[str, object]]:
    """Return what each update of a command is about, as fields of a log line."""
    match command:
        case ReportStatuses(reports):
            return [
                {
                    "connector": report.instance.connector,
                    "task": report.instance.task,
                    "state": report.status.state.value,
                }
                for report in reports
            ]
        case ReportTopics(connector, task, topics):
            return [{"connector": connector, "task": task, "topic": topic} for topic in topics]
        case ForgetStatuses(connector, tasks):
            return [{"connector": connector, "forgotten_tasks": list(tasks) or "all"}]
        case ResetTopics(connector):
            return [{"connector": connector, "forgotten_topics": "all"}]
        case _:
            assert_never(command)
