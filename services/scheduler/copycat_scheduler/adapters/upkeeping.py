"""The loop that corrects statuses after each plan: nobody else is left to do it."""

from __future__ import annotations

import asyncio
import logging

from copycat_connect.errors import CopycatError
from copycat_rpc.pace import Pace
from copycat_telemetry.changes import log_change

from copycat_scheduler.adapters.event_sourced import SchedulerEvents
from copycat_scheduler.adapters.inputs import Inputs
from copycat_scheduler.adapters.workers import LiveWorkers
from copycat_scheduler.domain.upkeep import Upkeep, upkeep

log = logging.getLogger(__name__)

RETRY_DELAY_SECONDS = 1.0
#: Statuses change by the hundred when a cluster starts; those of this time are looked at together.
CHANGES_TOGETHER_SECONDS = 0.05


class Upkeeping:
    """Corrects statuses whenever they may be wrong, while this instance leads."""

    def __init__(
        self, events: SchedulerEvents, workers: LiveWorkers, inputs: Inputs, due: asyncio.Event
    ) -> None:
        """Correct nothing before `run`; `due` is set when statuses may be wrong."""
        self._events = events
        self._workers = workers
        self._inputs = inputs
        self._due = due
        self._pace = Pace(CHANGES_TOGETHER_SECONDS)

    async def run(self) -> None:
        """Correct statuses until cancelled; a failure is tried again, planning does not wait for it."""
        while True:
            await self._due.wait()
            await self._pace.gather()
            self._due.clear()
            self._pace.begin()
            corrections = self._corrections()
            try:
                await self._inputs.statuses.correct(corrections)
            except CopycatError as error:
                log_change(log, "statuses cannot be corrected now", logging.WARNING, why=error.message)
                await asyncio.sleep(RETRY_DELAY_SECONDS)
                self._due.set()
            else:
                _log_failed(corrections)

    def _corrections(self) -> Upkeep:
        """Return what the statuses get wrong, as far as is known; nothing where another instance leads."""
        if not self._events.leads or not self._inputs.complete:
            return Upkeep()
        leases, now = self._workers.leases, asyncio.get_running_loop().time()
        return upkeep(
            self._inputs.desired(),
            self._inputs.statuses.observed,
            lambda: leases.held.union(self._events.state.assignments),
            lambda worker_id: leases.may_run(worker_id, now),
            self._inputs.faults(),
        )


def _log_failed(corrections: Upkeep) -> None:
    for instance, status, reason in corrections.failed:
        log_change(
            log,
            "connector has failed",
            logging.ERROR,
            connector=instance.connector,
            worker=status.worker_id,
            generation=status.generation,
            why=reason,
        )
