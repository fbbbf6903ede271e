"""A process of connectors, seen from outside: calls into it, and who may be the cause of its end."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Final, assert_never

from copycat_executor.children.child_process import ChildProcess, ChildProgram
from copycat_executor.children.piped_process import PipedProcess
from copycat_executor.domain.errors import PluginProcessGoneError
from copycat_executor.pipes.authors import tag_of
from copycat_executor.pipes.connector_messages import (
    FROM_CONNECTORS,
    ConnectorCall,
    ConnectorEvent,
    ConnectorFailed,
    ConnectorOrder,
    ConnectorWaits,
    ProcessEnds,
    ProcessEvent,
    QueryAsked,
    ReconfigurationWanted,
    RowTextAsked,
    SecretsExpired,
)
from copycat_executor.pipes.messages import T

#: For a copy to be made and to take calls, on a busy machine; plugins that start threads are loaded by then.
START_TIMEOUT_SECONDS: Final = 60.0


@dataclass(frozen=True, slots=True)
class ProcessEnd:
    """How a process ended, and who may be the cause."""

    ending: str
    """How it ended, in words for logs and statuses."""
    known: frozenset[str]
    """Authors that certainly are: the process said so, or they held its interpreter."""
    called: frozenset[str]
    """Authors whose code ran for open calls."""
    outside: bool
    """Something else ended it, or had stopped it."""
    served: bool = True
    """It had taken calls: before, no code of those who wait for it has run."""

    @property
    def told(self) -> bool:
        """Whether something distinguishes those who may be the cause from the others who were there."""
        return bool(self.known or self.called)

    def suspects(self, there: Collection[str]) -> frozenset[str]:
        """Return the authors that may be the cause, of those who had a connector `there` or were called."""
        if self.known or self.called:
            return self.known or self.called
        return frozenset() if self.outside else frozenset(there)


class _Owner:
    """What is special about this child process: it knows whose code it runs."""

    def __init__(
        self,
        heard: Callable[[ConnectorEvent], None],
        ended: Callable[[ProcessEnd], PluginProcessGoneError],
    ) -> None:
        self._heard = heard
        self._ended = ended
        self._tags: dict[str, tuple[str, ...]] = {}
        self._known: set[str] = set()

    def first_message(self) -> None:
        """Return nothing: the copy knows all that its template was sent."""

    def called(self, authors: Sequence[str]) -> None:
        """Note whose code runs in the process from now on."""
        if authors:
            self._tags[tag_of(authors[0])] = tuple(authors)

    def heard(self, event: ProcessEvent) -> None:
        match event:
            case ProcessEnds(authors=authors):
                self._known.update(authors)
            case (
                ReconfigurationWanted()
                | ConnectorFailed()
                | ConnectorWaits()
                | SecretsExpired()
                | QueryAsked()
                | RowTextAsked()
            ):
                self._heard(event)
            case _:
                assert_never(event)

    def silence_limit_seconds(self) -> None:
        pass

    def fell_silent(self) -> None:
        pass

    def held(self, busiest: str | None) -> None:
        self._known.update(self._tags.get(busiest or "", ()))

    def ended(
        self, ending: str, authors: frozenset[str], *, outside: bool, served: bool
    ) -> PluginProcessGoneError:
        end = ProcessEnd(ending, frozenset(self._known), authors, outside, served)
        self._tags, self._known = {}, set()
        return self._ended(end)


class ConnectorProcess:
    """The process that runs author code of connectors, and the one that takes its place when it ends."""

    def __init__(
        self,
        start: Callable[[], Awaitable[PipedProcess]],
        *,
        heard: Callable[[ConnectorEvent], None] = lambda _: None,
        ended: Callable[[ProcessEnd], PluginProcessGoneError] = lambda end: PluginProcessGoneError(
            end.ending
        ),
    ) -> None:
        """Prepare; `run` starts it.

        Args:
            start: Starts it: makes a copy of the template.
            heard: Hears what the process says without having been called.
            ended: Judges its end, before another is started; returns the error of its open calls.
        """
        self._owner = _Owner(heard, ended)
        program: ChildProgram[ProcessEvent] = ChildProgram(
            start, "connectors", FROM_CONNECTORS, start_seconds=START_TIMEOUT_SECONDS
        )
        self._child = ChildProcess(program, self._owner)

    def at_rest(self) -> bool:
        """Return whether it takes calls, and nothing that earlier ones began goes on."""
        return self._child.at_rest()

    async def run(self) -> None:
        """Keep a process running until cancelled."""
        await self._child.run()

    async def call(
        self,
        call: ConnectorCall[T],
        stage: str,
        deadline_seconds: float,
        authors: Sequence[str] = (),
        *,
        start_counts: bool,
    ) -> T:
        """Call and wait; `stage` names what hangs when the deadline passes, `authors` whose code runs.

        Unless `start_counts`, the deadline begins when the process takes calls.

        Raises:
            PluginError: Author code raised.
            ProcessStartsError: The process did not take calls in time.
            PluginHangsError: It did not come back in time; it still runs.
            PluginProcessGoneError: The process died meanwhile.
        """
        self._owner.called(authors)
        return await self._child.call(call, stage, deadline_seconds, authors, start_counts=start_counts)

    def send(self, order: ConnectorOrder) -> None:
        """Send what is not answered; lost while there is no process."""
        self._child.send(order)

    def set_level(self, logger: str, level: str) -> None:
        """Set a log level in the process and in each that takes its place."""
        self._child.set_level(logger, level)

    def kill(self) -> None:
        """End the process, whatever it does; another takes its place."""
        self._child.kill()
