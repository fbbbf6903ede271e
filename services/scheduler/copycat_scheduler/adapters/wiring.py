"""The scheduler put together: what it hears, what it plans from that, and who may ask it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import grpc
from copycat.status.v1.status_service_pb2_grpc import StatusServiceStub
from copycat_connect.config.placeholders import Placeholders
from copycat_connect.errors import CopycatError
from copycat_rpc.acts import ActReporter
from copycat_rpc.health import serves
from copycat_rpc.pace import LoopPace
from copycat_rpc.reach import reach
from copycat_rpc.server import RpcServer
from copycat_rpc.tls import ServicesTls
from copycat_telemetry.changes import log_change

from copycat_scheduler.adapters.clusters import ClusterCatalogs, OpenTopics
from copycat_scheduler.adapters.connectors import Connectors
from copycat_scheduler.adapters.event_sourced import SchedulerEvents
from copycat_scheduler.adapters.inputs import Inputs
from copycat_scheduler.adapters.planning import Planning, Wakeups
from copycat_scheduler.adapters.probing import Probing
from copycat_scheduler.adapters.rebalances import Rebalances
from copycat_scheduler.adapters.server import register
from copycat_scheduler.adapters.statuses import NewestStatuses
from copycat_scheduler.adapters.topics import ReadTopics
from copycat_scheduler.adapters.workers import LiveWorkers
from copycat_scheduler.domain.upkeep import Corrections, upkeep

log = logging.getLogger(__name__)

_RETRY_DELAY_SECONDS = 1.0
#: Statuses change by the hundred when a cluster starts; those of this time are looked at together.
_CHANGES_TOGETHER_SECONDS = 0.05


class _Upkeeping:
    """Corrects statuses whenever they may be wrong, while this instance leads."""

    def __init__(
        self, events: SchedulerEvents, workers: LiveWorkers, inputs: Inputs, due: asyncio.Event
    ) -> None:
        """Correct nothing before `run`; `due` is set when statuses may be wrong."""
        self._events = events
        self._workers = workers
        self._inputs = inputs
        self._due = due
        self._pace = LoopPace(_CHANGES_TOGETHER_SECONDS)

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
                await asyncio.sleep(_RETRY_DELAY_SECONDS)
                self._due.set()
            else:
                _log_failed(corrections)

    def _corrections(self) -> Corrections:
        """Return what the statuses get wrong, as far as is known; nothing where another instance leads."""
        if not self._events.leads or not self._inputs.complete:
            return Corrections()
        leases, now = self._workers.leases, asyncio.get_running_loop().time()
        return upkeep(
            self._inputs.desired(),
            self._inputs.statuses.observed,
            lambda: leases.held.union(self._events.state.assignments),
            lambda worker_id: leases.may_run(worker_id, now),
            self._inputs.faults(),
        )


def _log_failed(corrections: Corrections) -> None:
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


Loop: TypeAlias = Callable[[], Coroutine[Any, Any, object]]


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Whom the scheduler asks and follows."""

    config: grpc.aio.Channel
    """To the config service."""
    status: grpc.aio.Channel
    """To the status service."""
    read_topics: ReadTopics
    """Reads the topics of the worker's own Kafka cluster."""
    open_topics: OpenTopics
    """Opens the topics of another Kafka cluster."""
    cluster_id: Callable[[], Awaitable[str]]
    """Asks the brokers of the worker's own Kafka cluster for its id."""


@dataclass(frozen=True, slots=True)
class Times:
    """How long is waited for what, in milliseconds."""

    lease_ms: int
    """A worker may be silent for this long."""
    delay_ms: int
    """The work of a lost worker waits for it this long."""
    refresh_ms: int
    """Topics are read this often while sinks ask for some."""


def wire(
    server: RpcServer,
    events: SchedulerEvents,
    neighbours: Neighbours,
    *,
    times: Times,
    rebalances: Rebalances,
    placeholders: Placeholders,
    properties: Mapping[str, str],
    stop: asyncio.Event,
    tls: ServicesTls | None = None,
) -> tuple[Loop, ...]:
    """Register the service at a server and return the loops that are to run while it serves.

    Args:
        server: A server that was not started.
        events: The assignments, not started.
        neighbours: Other services and Kafka.
        times: The service's own settings.
        rebalances: Counts the plans.
        placeholders: Of the worker's properties.
        properties: The worker's, as written.
        stop: Set when this process ends.
        tls: What workers are called with where the cluster encrypts.
    """
    wakeups = Wakeups()
    catalog = ClusterCatalogs(
        neighbours.read_topics,
        neighbours.open_topics,
        placeholders,
        times.refresh_ms / 1000,
        wakeups.plan.set,
    )
    statuses = NewestStatuses(neighbours.status, wakeups.plan.set, wakeups.upkeep.set)
    connectors = Connectors(wakeups.plan.set, placeholders, properties)
    inputs = Inputs(connectors, statuses, catalog)
    workers = LiveWorkers(
        events,
        wakeups.plan.set,
        lease_seconds=times.lease_ms / 1000,
        delay_seconds=times.delay_ms / 1000,
    )
    probing = Probing(workers, times.lease_ms / 1000, reach, partial(serves, tls=tls))
    register(
        server,
        events,
        workers,
        neighbours.cluster_id,
        lease_ms=times.lease_ms,
        stop=stop,
        stream_ended=probing.stream_ended,
    )
    acts = ActReporter(StatusServiceStub(neighbours.status), "scheduler")
    return (
        probing.run,
        acts.run,
        Planning(events, workers, inputs, wakeups, rebalances, acts=acts).run,
        _Upkeeping(events, workers, inputs, wakeups.upkeep).run,
        catalog.run,
        statuses.follow,
        lambda: connectors.follow(neighbours.config),
    )
