"""One write, again and again until it is visible or given up (retry KIP)."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from copycat_connect.errors import CopycatError, NotWriterError, OutcomeUnknownError, UnavailableError
from copycat_connect.retry import RetryPolicy
from copycat_eventlog.handler import Outcome
from copycat_eventlog.log import Revision
from copycat_telemetry.metrics.definitions import Reading
from copycat_telemetry.metrics.groups import STATUS_STORE

from copycat_status.adapters.event_sourced import StatusEvents
from copycat_status.adapters.write_lines import log_given_up, log_retry, updates_of
from copycat_status.domain.commands import StatusCommand
from copycat_status.domain.errors import UpdateGivenUpError
from copycat_status.domain.events import StatusEvent
from copycat_status.domain.state import StatusState


@dataclass(slots=True)
class _WriteCounters:
    """Totals since the start, reported as the group `status-backing-store-metrics`."""

    retries: int = 0
    failures: int = 0
    successes: int = 0

    def reading(self) -> Reading:
        """Return the totals."""
        totals = {
            "status-update-retry-total": self.retries,
            "status-update-failure-total": self.failures,
            "status-update-success-total": self.successes,
        }
        return Reading(STATUS_STORE, {}, totals)


#: An attempt that is not visible by then has failed; brokers that are well take some milliseconds.
ATTEMPT_SECONDS: Final = 2.0

#: What may pass: the log is away, or changes hands.
PASSING_ERRORS: Final = (NotWriterError, OutcomeUnknownError, UnavailableError)

StatusOutcome = Outcome[StatusEvent, StatusState]


class Retrying:
    """Executes commands with bounded back-off while the log is away, and counts what became of them.

    The only place where status updates are retried: whoever hands them over waits, or asks again, but adds
    no attempt.
    """

    def __init__(
        self,
        events: StatusEvents,
        backoff: RetryPolicy,
        *,
        attempt_seconds: float = ATTEMPT_SECONDS,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        random: Callable[[], float] = random.random,
    ) -> None:
        self.events = events
        self.counters = _WriteCounters()
        self._backoff = backoff
        self._attempt_seconds = attempt_seconds
        self._sleep = sleep
        self._random = random
        self._appends: set[asyncio.Task[StatusOutcome]] = set()

    async def write(self, left: Callable[[], StatusCommand | None]) -> Revision:
        """Execute a command and return the revision that shows it.

        Before each attempt `left` returns what is still to be written of it, None when that is nothing.

        Raises:
            NotWriterError: The log is another instance's, or nobody's yet: the caller goes to the writer.
            GivenUpError: All retries failed; the update may or may not be in the log.
            CopycatError: The refusal of the decision.
        """
        append, retries, wait, cause = _Append(self.events, self._begin), 0, 0.0, ""
        while (command := left()) is not None:
            if retries:
                self._count_retry(command, retries, wait, cause)
            try:
                async with asyncio.timeout(self._attempt_seconds):
                    return await append.attempt(command)
            except TimeoutError:
                cause = f"the log has not answered within {self._attempt_seconds:g} s"
            except PASSING_ERRORS as error:
                cause = error.message
            except CopycatError as error:
                self._lose(command, retries, error.message)
                raise
            self._check_going_on(command, retries, cause)
            wait = self._backoff.wait(retries, self._random())
            await self._sleep(wait)
            retries += 1
        return self.events.revision

    async def once(self, command: StatusCommand) -> Revision:
        """Execute a command that was given up; counted only when it is written.

        Raises:
            CopycatError: As `EventSourced.execute`.
        """
        return (await asyncio.shield(self._begin(command))).revision

    async def long_pause(self) -> None:
        """Wait as long as before the last attempt of a write that is given up."""
        last = max(0, (self._backoff.max_retries or 0) - 1)
        await self._sleep(self._backoff.wait(last, self._random()))

    def cancel_appends(self) -> None:
        """Wait for no answer of the log any more; what was sent is not taken back."""
        for append in self._appends:
            append.cancel()

    def _begin(self, command: StatusCommand) -> asyncio.Task[StatusOutcome]:
        append = asyncio.create_task(self._execute(command))
        self._appends.add(append)
        append.add_done_callback(self._ended)
        return append

    async def _execute(self, command: StatusCommand) -> StatusOutcome:
        """Count what is written, also when nobody waits for it any more."""
        outcome = await self.events.execute(command)
        self.counters.successes += len(outcome.events)
        return outcome

    def _ended(self, append: asyncio.Task[StatusOutcome]) -> None:
        self._appends.discard(append)
        if not append.cancelled():
            append.exception()  # an attempt that timed out does not look

    def _check_going_on(self, command: StatusCommand, retries: int, cause: str) -> None:
        """Raise unless another attempt is due."""
        if not self.events.owns:
            raise NotWriterError("Another instance owns the status log, or nobody does yet")
        limit = self._backoff.max_retries
        if limit is not None and retries >= limit:
            self._lose(command, retries, cause)
            raise UpdateGivenUpError(retries, cause)

    def _count_retry(self, command: StatusCommand, number: int, wait: float, cause: str) -> None:
        self.counters.retries += len(updates_of(command))
        grew = number == 1 or self._backoff.wait(number - 1) > self._backoff.wait(number - 2)
        log_retry(command, number, wait, cause, always=grew)

    def _lose(self, command: StatusCommand, retries: int, cause: str) -> None:
        self.counters.failures += len(updates_of(command))
        log_given_up(command, retries, cause)


class _Append:
    """The attempts of one write: as long as the log has not answered the last one, the next waits for it too.

    Appended again meanwhile, the record might be there twice, with a newer one of its key in between.
    """

    def __init__(
        self, events: StatusEvents, begin: Callable[[StatusCommand], asyncio.Task[StatusOutcome]]
    ) -> None:
        self._events = events
        self._begin = begin
        self._under_way: asyncio.Task[StatusOutcome] | None = None

    async def attempt(self, command: StatusCommand) -> Revision:
        """Return the revision that shows the command; cancelled before this instance leads, nothing is sent.

        Raises:
            CopycatError: As `EventSourced.execute`.
        """
        if self._under_way is None or self._under_way.done():
            await self._events.lead()
            self._under_way = self._begin(command)
        return (await asyncio.shield(self._under_way)).revision
