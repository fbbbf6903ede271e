"""Rounds of fencing, one at a time for each connector, and only where the log is led (KIP-618)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from copycat_connect.cluster import Config
from copycat_connect.errors import UnavailableError
from copycat_eventlog.log import Revision
from copycat_telemetry.changes import log_change

from copycat_config.adapters.event_sourced import ConfigEvents
from copycat_config.domain.fencing import fencing_due

log = logging.getLogger(__name__)

#: For a whole round, as Kafka Connect's leader takes.
ROUND_SECONDS: Final = 90.0


class FormerTasks(Protocol):
    """Bars the producers of former tasks."""

    async def fence(self, connector: str, config: Config, tasks: Sequence[int]) -> None:
        """Return once no former producer of these tasks can write any more.

        Raises:
            FencingFailedError: Kafka refuses, and will again.
            ConfigError: The connector's client overrides may not, or cannot be followed.
            UnavailableError: Kafka is away.
        """
        ...


@dataclass(frozen=True, slots=True)
class Fenced:
    """How a round ended."""

    producers: int
    """How many were fenced."""
    task_generation: int
    """The number of the task set before which nothing can write any more."""
    revision: Revision
    """Where that is visible."""


class Fencing:
    """Fences the former tasks of connectors; callers that ask at the same time share a round."""

    def __init__(self, events: ConfigEvents, former: FormerTasks, seconds: float = ROUND_SECONDS) -> None:
        """Fence nothing before somebody asks; a round may take so many `seconds`."""
        self._events = events
        self._former = former
        self._seconds = seconds
        self._rounds: dict[str, asyncio.Task[Fenced]] = {}

    async def fence(self, connector: str) -> Fenced:
        """Return once no task before the newest task set of a connector can write any more.

        Cancelling the call does not end the round: others may wait for it.

        Raises:
            UnknownConnectorError: It has no configuration.
            TasksChangedError: Another task set was committed meanwhile.
            FencingFailedError: Kafka refuses, and will again.
            ConfigError: The connector's client overrides may not, or cannot be followed.
            NotWriterError: This instance does not lead; nothing was fenced.
            UnavailableError: It was not done in time.
        """
        under_way = self._rounds.get(connector)
        if under_way is None:
            under_way = asyncio.create_task(self._bounded(connector))
            self._rounds[connector] = under_way
            under_way.add_done_callback(lambda ended: self._ended(connector, ended))
        return await asyncio.shield(under_way)

    async def aclose(self) -> None:
        """End all rounds."""
        rounds = tuple(self._rounds.values())
        for each in rounds:
            each.cancel()
        await asyncio.gather(*rounds, return_exceptions=True)

    async def _bounded(self, connector: str) -> Fenced:
        try:
            async with asyncio.timeout(self._seconds):
                return await self._round(connector)
        except TimeoutError:
            raise UnavailableError(
                f"The former tasks of connector {connector} were not fenced within {self._seconds:g} s"
            ) from None

    async def _round(self, connector: str) -> Fenced:
        # Who has led without knowing that another one leads now would fence the tasks of today: so the log is
        # read to its end, not the fold believed.
        await self._events.lead()
        await self._events.read_to_end()
        state, revision = self._events.state, self._events.revision
        due = fencing_due(state, connector)
        if due is None:
            return Fenced(0, state.facts(connector).task_generation or 0, revision)
        if due.former > 0:
            await self._former.fence(connector, due.config, range(due.former))
        outcome = await self._events.execute(due.record)
        log_change(log, "former tasks fenced", connector=connector, fenced=due.former, tasks=due.record.count)
        # Not the generation of `outcome`: another set may have been committed since.
        return Fenced(due.former, due.record.task_generation or 0, outcome.revision)

    def _ended(self, connector: str, ended: asyncio.Task[Fenced]) -> None:
        del self._rounds[connector]
        if not ended.cancelled():
            ended.exception()  # its callers may be gone: nobody else would look
