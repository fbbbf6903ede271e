"""The processes of connectors, copies of one template: one that all share, and others for suspects.

A call that was open when a process ended is sent again, to the process that takes its place. Whoever was
running then is suspected (`domain.suspicion`), and parted from the others at once, until one dies alone: that
one is to blame, and no other. Questions about configurations have processes of their own.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from typing import Final, Protocol

from copycat_executor.background import BackgroundJobs
from copycat_executor.children.connector_process import ConnectorProcess, ProcessEnd
from copycat_executor.children.question_processes import QuestionProcesses
from copycat_executor.children.template import Template
from copycat_executor.domain.deaths import Suspicions, parts
from copycat_executor.domain.errors import PluginProcessGoneError
from copycat_executor.pipes.authors import connector_author
from copycat_executor.pipes.connector_messages import (
    AbandonConnector,
    ConnectorCall,
    ConnectorEvent,
    QuestionCall,
)
from copycat_executor.pipes.messages import T

log = logging.getLogger(__name__)

#: Where nothing distinguishes one of those who share a process, its first end may be a coincidence.
DEATHS_TO_PART: Final = 2
#: Processes beside the shared one, some 6 MB each; beyond them suspects share.
MAX_APART: Final = 16
#: Into so many of them the suspects of one end are divided.
PARTS: Final = 4


class ProcessListener(Protocol):
    """Who hears what processes say without having been called."""

    def heard(self, event: ConnectorEvent, process: ConnectorProcess) -> None:
        """Something happened to an object in a process, or one asks for something."""

    def process_ended(self, connectors: Collection[str], blamed: PluginProcessGoneError | None) -> None:
        """A process ended with the objects of these connectors; `blamed` where theirs alone was there."""


class _Nobody:
    """Listens until somebody else does: a process that was not called yet says nothing of importance."""

    def heard(self, event: ConnectorEvent, process: ConnectorProcess) -> None:
        pass

    def process_ended(self, connectors: Collection[str], blamed: PluginProcessGoneError | None) -> None:
        pass


class _Place:
    """Where connectors run together: a process while somebody is there, the next one after it."""

    def __init__(self) -> None:
        self.residents: set[str] = set()
        self.process: ConnectorProcess | None = None
        self.job: asyncio.Task[object] | None = None


class ConnectorProcesses:
    """Runs author code of connectors, each in the process where it harms nobody else."""

    def __init__(self, worker: Mapping[str, str], jobs: BackgroundJobs) -> None:
        """Keep the worker's properties, which the processes get."""
        self._template = Template(worker)
        self._jobs = jobs
        self._listener: ProcessListener = _Nobody()
        self._levels: dict[str, str] = {}
        self._suspicions: Suspicions[str] = Suspicions()
        self._shared = _Place()
        self._homes: dict[str, _Place] = {}
        self._where: dict[str, _Place] = {}
        self._questions = QuestionProcesses(self._make, jobs)

    def listen(self, listener: ProcessListener) -> None:
        """Have what the processes say heard by `listener`; call it once, before the first call into them."""
        self._listener = listener

    def failed_plugins(self) -> Mapping[str, str]:
        """Return the plugins not to load, by entry point, and why; complete once `loaded` has returned."""
        return self._template.failed_plugins()

    def is_on_spark(self, connector_class: str) -> bool:
        """Return whether Spark moves the records of connectors of a class, by its name or an alias."""
        return connector_class.strip() in self._template.on_spark()

    async def loaded(self) -> None:
        """Wait until the template has loaded the plugins."""
        await self._template.loaded()

    async def run(self) -> None:
        """Keep the template running until cancelled; its copies run as background jobs."""
        await self._template.run()

    def set_level(self, logger: str, level: str) -> None:
        """Set a log level in all processes, also in later ones."""
        self._levels.pop(logger, None)  # the order counts: a level is also that of the loggers below
        self._levels[logger] = level
        self._questions.set_level(logger, level)
        for place in {self._shared, *self._where.values()}:
            if place.process is not None:
                place.process.set_level(logger, level)

    async def ask(self, call: QuestionCall[T], stage: str, deadline_seconds: float) -> T:
        """Ask what needs no running connector; `stage` names what hangs when the deadline passes.

        Raises:
            PluginError: Author code raised.
            ProcessStartsError: No process took the question in time.
            PluginHangsError: It did not come back in time; it is given up.
            PluginProcessGoneError: It ended the process that it had for itself.
        """
        return await self._questions.ask(call, stage, deadline_seconds)

    def enter(self, connector: str) -> None:
        """Choose where a connector runs from now on: apart while it is suspected of anything."""
        place = self._homes.get(connector, self._shared) if self._stays_apart(connector) else self._shared
        place.residents.add(connector)
        self._where[connector] = place
        self._open(place)

    def has(self, connector: str) -> bool:
        """Return whether a connector that has entered is still where it did: its process has not ended."""
        return connector in self._where

    async def call(self, connector: str, call: ConnectorCall[T], stage: str, deadline_seconds: float) -> T:
        """Call the object of a connector that has entered; the deadline begins once its process has started.

        Raises:
            PluginError: Author code raised.
            PluginHangsError: It did not come back in time; it still runs.
            PluginProcessGoneError: The process died meanwhile, or before.
        """
        place = self._where.get(connector)
        if place is None or place.process is None:
            raise PluginProcessGoneError("it ended before")
        authors = (connector_author(connector),)
        return await place.process.call(call, stage, deadline_seconds, authors, start_counts=False)

    def leave(self, connector: str, given_up: AbandonConnector | None, *, hung: bool) -> None:
        """Note that a connector has no object any more; one that is given up ends, and its process if alone.

        One that `hung` runs apart from others when it is started again.
        """
        place = self._where.pop(connector, None)
        if place is None:
            return
        place.residents.discard(connector)
        if hung:
            self._suspect((connector_author(connector),))
            self._forget_homes()
            if place is self._shared or place.residents:
                self._homes[connector] = self._place_apart()
        if not place.residents:
            self._close(place)
        elif given_up is not None and place.process is not None:
            place.process.send(given_up)

    def _stays_apart(self, connector: str) -> bool:
        return self._recent().count(connector_author(connector)) > 0

    def _recent(self) -> Suspicions[str]:
        self._suspicions = self._suspicions.recent(asyncio.get_running_loop().time())
        return self._suspicions

    def _suspect(self, authors: Collection[str]) -> None:
        self._suspicions = self._suspicions.after(authors, asyncio.get_running_loop().time())

    def _make(self, ended: Callable[[ProcessEnd], PluginProcessGoneError]) -> ConnectorProcess:
        process = ConnectorProcess(
            self._template.copy, heard=lambda event: self._listener.heard(event, process), ended=ended
        )
        for logger, level in self._levels.items():
            process.set_level(logger, level)
        return process

    def _open(self, place: _Place) -> None:
        if place.process is None:
            place.process = self._make(partial(self._ended, place))
            place.job = self._jobs.spawn(place.process.run(), "process of connectors")

    def _close(self, place: _Place) -> None:
        """End the process of a place; the next connector there has another."""
        job, place.job, place.process = place.job, None, None
        if job is not None:
            job.cancel()

    def _ended(self, place: _Place, end: ProcessEnd) -> PluginProcessGoneError:
        """Judge the end of a process; returns the error of its open calls."""
        there, apart = set(place.residents), place is not self._shared
        # Apart, whoever waited is blamed all the same: it fails, and so waits before the next try.
        ran = {connector_author(name) for name in there if end.served or apart}
        suspects = end.suspects(ran)
        self._suspect(suspects)
        alone = apart and len(there) < 2 and bool(suspects)
        gone = PluginProcessGoneError(end.ending, alone=alone)
        if suspects:
            log.warning("suspected of the end of a process of connectors: %s", ", ".join(sorted(suspects)))
        self._forget_homes()
        if not alone:
            self._part([name for name in there if connector_author(name) in suspects], distinct=end.told)
        if apart or there <= set(self._homes):
            self._close(place)
        place.residents.clear()
        for name in there:
            self._where.pop(name, None)
        self._listener.process_ended(there, gone if alone else None)
        return gone

    def _forget_homes(self) -> None:
        self._homes = {name: home for name, home in self._homes.items() if self._stays_apart(name)}

    def _part(self, suspects: Iterable[str], *, distinct: bool) -> None:
        """Divide suspects between processes of their own, if something distinguished them (`distinct`)."""
        by_author = {connector_author(name): name for name in suspects}
        enough = 1 if distinct else DEATHS_TO_PART
        movers = [each for each in by_author if self._recent().count(each) >= enough]
        for part in parts(movers, self._suspicions, PARTS):
            place = self._place_apart()
            for author in part:
                self._homes[by_author[author]] = place

    def _place_apart(self) -> _Place:
        """Return a place that nobody has; where there are too many, the one with the fewest connectors.

        Homes that nobody has entered count as well: of connectors that hang together none has yet.
        """
        homes = Counter(self._homes.values())
        fewest = min(homes, key=lambda each: (len(each.residents), homes[each]), default=None)
        return _Place() if fewest is None or len(homes) < MAX_APART else fewest
