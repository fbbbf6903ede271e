"""The handler: command -> decide -> append -> wait until folded -> outcome."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from copycat_connect.errors import (
    CopycatError,
    LogCompactedError,
    NotWriterError,
    OutcomeUnknownError,
    UnavailableError,
)
from copycat_telemetry.tracing import traceparent

from copycat_eventlog.ahead import Ahead, Flight
from copycat_eventlog.decider import Decider
from copycat_eventlog.log import Codec, Entry, Log, Record, Revision
from copycat_eventlog.observing import Observer
from copycat_eventlog.unreadable import LogRecordReader, Unreadable
from copycat_eventlog.watch import LoggedChange, LogSnapshot, RecentChanges

C = TypeVar("C")
E = TypeVar("E")
S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class Outcome(Generic[E, S]):
    """What a command led to."""

    events: tuple[E, ...]
    """What was appended; empty when there was nothing to do."""
    state: S
    """A folded state that shows the effect."""
    revision: Revision
    """The position of `state` (I4)."""


class EventSourced(Generic[C, E, S]):
    """An event-sourced state: folds a log, decides commands on it, lets others watch it."""

    def __init__(
        self,
        decider: Decider[C, E, S],
        codec: Codec[E],
        log: Log,
        *,
        patience: float = 8.0,
        history: int = 4096,
        backlog: int = 65_536,
    ) -> None:
        """Build it; nothing happens before `start`.

        Args:
            decider: The service's rules.
            codec: The log's format.
            log: A log that was not started.
            patience: Seconds a command waits for this instance to lead.
            history: How many changes are kept for watchers that resume.
            backlog: How many changes a watcher may be behind.
        """
        self._decider = decider
        self._codec = codec
        self._reader = LogRecordReader(codec, log.name)
        self._log = log
        self._patience = patience
        self._observer: Observer[E, S] = Observer()
        self._state = decider.initial
        self._revision = Revision.ZERO
        self._ahead: Ahead[E, S] = Ahead(decider.evolve, decider.initial)
        self._history: RecentChanges[E, S] = RecentChanges(history, backlog)
        self._caught_up = False
        self._settled_start = asyncio.Event()  # caught up, or never to be
        self._stopped = False
        self._flights: set[asyncio.Task[None]] = set()
        self._waiters: list[tuple[Revision, asyncio.Future[None]]] = []
        self._lost: CopycatError | None = None
        self._losing: asyncio.Task[None] | None = None

    @property
    def state(self) -> S:
        """The state folded so far; it is never changed, only replaced."""
        return self._state

    @property
    def revision(self) -> Revision:
        """The position in the log up to which `state` is folded."""
        return self._revision

    @property
    def leads(self) -> bool:
        """Whether commands are decided here."""
        return self._log.leads

    @property
    def owns(self) -> bool:
        """Whether commands are to be decided here as soon as the log can be reached."""
        return self._log.owns

    @property
    def unreadable(self) -> Unreadable:
        """What could not be read of the log."""
        return self._reader.unreadable

    @property
    def trouble(self) -> str:
        """Why nothing that needs the log is done any more; empty while all is well."""
        return self._lost.message if self._lost else ""

    def observe(self, observer: Observer[E, S]) -> None:
        """Tell an observer what is appended here, once it is durable."""
        self._observer = observer

    async def start(self) -> None:
        """Start the log and fold it; return when caught up. Leading may come a moment later."""
        await self._log.start(self._fold)
        self._losing = asyncio.create_task(self._fail_when_lost())
        self._history.begin(self._revision)
        self._caught_up = True
        self._settled_start.set()

    def end_watches(self) -> None:
        """End every watch: a server that waits for its streams can then stop at once."""
        self._settled_start.set()
        self._history.close()

    async def stop(self) -> None:
        """Stop the log, end the watches, fail what waits."""
        if self._losing is not None:
            self._losing.cancel()
        await self._log.stop()
        self._stopped = True
        self._fail_waiters(_stopping())
        if self._flights:
            await asyncio.wait(self._flights)
        self._history.close()

    async def crashed(self) -> BaseException:
        """Return only when the log can go on no more, with the reason."""
        return await self._log.crashed()

    async def execute(self, command: C) -> Outcome[E, S]:
        """Decide a command and return once its effect is durable and folded.

        Callers need not wait for each other: each decides on the state ahead of the fold, and the log shares
        transactions among them. Cancelling the call does not take the command back.

        Raises:
            CopycatError: The refusal of the decision; nothing was appended.
            LogLostError: The log is gone; nothing was appended.
            NotWriterError: This instance does not lead; nothing was appended.
            OutcomeUnknownError: The events may or may not be in the log.
        """
        await self.lead()
        # No await from here to _send: leadership, state ahead and order of appends belong together.
        try:
            events = self._decider.decide(command, self._ahead.state)
        except CopycatError:
            await self._settled()  # the refusal may rest on events that are not durable yet
            raise
        if events:
            await asyncio.shield(self._send(events))
        else:
            await self._settled()
        return Outcome(events, self._state, self._revision)

    async def lead(self) -> None:
        """Return once commands are decided here, for work that only the writer of the log may do.

        Raises:
            LogLostError: The log is gone.
            NotWriterError: This instance does not lead.
            UnavailableError: The service is stopping.
        """
        while not self._log.leads:
            await self._log.lead(self._patience)

    async def read_to_end(self) -> None:
        """Wait until the folded state shows all that anybody has written so far.

        Raises:
            LogLostError: The log is gone.
            UnavailableError: The log cannot be reached, or the service stopped before.
        """
        await self.reached(await self._log.end())

    async def reached(self, revision: Revision) -> None:
        """Wait until the folded state shows everything up to `revision`.

        Raises:
            LogLostError: The log is gone.
            UnavailableError: The service stopped before.
        """
        if self._revision.covers(revision):
            return
        if self._stopped:
            raise _stopping()
        if self._lost is not None:
            raise self._lost
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.append((revision, waiter))
        try:
            await waiter
        except asyncio.CancelledError:
            self._waiters = [waiting for waiting in self._waiters if waiting[1] is not waiter]
            raise

    async def watch(
        self, after: Revision | None = None
    ) -> AsyncIterator[LogSnapshot[S] | LoggedChange[E, S]]:
        """Yield a snapshot, then every change; or, when resumed after a revision, only the changes since.

        Waits until the log was folded: half a fold looks like a state in which everything else was forgotten,
        and its remaining changes are never reported. Ends when the service stops.

        Raises:
            LogCompactedError: `after` is too old, or the watcher is too slow: watch again without it.
            UnavailableError: The service stopped before the log was folded.
        """
        await self._settled_start.wait()
        if not self._caught_up:
            raise _stopping()
        if after is None:
            with self._history.now() as cursor:
                yield LogSnapshot(self._state, self._revision)
                async for change in self._history.follow(cursor):
                    yield change
        else:
            await self._caught_up_with(after)
            async for change in self._history.resume(after):
                yield change

    async def _caught_up_with(self, after: Revision) -> None:
        try:
            async with asyncio.timeout(self._patience):
                await self.reached(after)
        except TimeoutError:
            raise LogCompactedError("The log ends before this revision; ask for a new snapshot") from None

    async def _fail_when_lost(self) -> None:
        self._lost = await self._log.lost()
        self._fail_waiters(self._lost)

    def _fail_waiters(self, error: CopycatError) -> None:
        waiters, self._waiters = self._waiters, []
        for _, waiter in waiters:
            if not waiter.done():
                waiter.set_exception(error)

    def _send(self, events: tuple[E, ...]) -> asyncio.Task[None]:
        records = tuple(self._codec.encode(event) for event in events)
        if span := traceparent():
            records = tuple(replace(record, traceparent=span) for record in records)
        flight = self._ahead.send(events, records)
        self._observer.sent(events, records)
        task = asyncio.create_task(self._land(flight, records))
        self._flights.add(task)
        task.add_done_callback(self._landed)
        return task

    async def _land(self, flight: Flight, records: Sequence[Record]) -> None:
        try:
            revision = await self._log.append(records)
            await self._shown(revision)
        except CopycatError:
            self._ahead.drop(flight)
            self._observer.dropped(records)
            raise
        self._ahead.land(flight)

    async def _shown(self, revision: Revision) -> None:
        try:
            await self.reached(revision)
        except UnavailableError as stopped:
            raise OutcomeUnknownError(
                "The events were appended, but the service stopped before it showed them"
            ) from stopped

    def _landed(self, task: asyncio.Task[None]) -> None:
        self._flights.discard(task)
        if not task.cancelled():
            task.exception()  # its caller may be gone: nobody else would look

    async def _settled(self) -> None:
        """Wait for all events in flight; fail when one of them does."""
        flights = tuple(self._flights)
        if not flights:
            return
        await asyncio.wait(flights)
        if any(flight.cancelled() or flight.exception() for flight in flights):
            raise NotWriterError(
                "The command was decided on events that did not reach the log; it had no effect"
            )

    def _fold(self, entries: Sequence[Entry], reached: Revision) -> None:
        step, evolve, state = self._reader.step, self._decider.evolve, self._state
        position = dict(self._revision.next)
        for entry in entries:
            before = state
            event, state = step(evolve, before, entry)
            position[entry.partition] = entry.offset + 1
            if event is None:
                continue
            self._observer.folded(event, before, entry)
            if self._caught_up:
                change = LoggedChange(event, state, Revision(dict(position)), entry.record.traceparent)
                self._history.add(entry.partition, entry.offset, change)
        self._state, self._revision = state, reached
        self._ahead.fold(state, (entry.record for entry in entries))
        self._wake()

    def _wake(self) -> None:
        waiting: list[tuple[Revision, asyncio.Future[None]]] = []
        for revision, waiter in self._waiters:
            if waiter.done():
                continue
            if self._revision.covers(revision):
                waiter.set_result(None)
            else:
                waiting.append((revision, waiter))
        self._waiters = waiting


def _stopping() -> UnavailableError:
    return UnavailableError("The service is stopping")
