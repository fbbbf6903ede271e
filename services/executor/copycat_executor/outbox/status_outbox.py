"""Statuses on their way to the status service: kept until written, the newest of each instance wins."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable

from copycat.status.v1 import status_service_pb2 as pb
from copycat.types.v1 import types_pb2
from copycat_connect.cluster import Instance
from copycat_connect.errors import CopycatError
from copycat_connect.retry import RetryPolicy
from copycat_connect.waiting import NewestWaiting
from copycat_rpc.services import ServiceStubs
from copycat_telemetry.changes import log_change

from copycat_executor.background import ChangeSignal
from copycat_executor.outbox.until_it_works import until_it_works
from copycat_executor.peers import is_transient

log = logging.getLogger(__name__)

_STATE_PHRASES = {
    types_pb2.STATE_RUNNING: "is running",
    types_pb2.STATE_PAUSED: "is paused",
    types_pb2.STATE_STOPPED: "is stopped",
    types_pb2.STATE_FAILED: "has failed",
    types_pb2.STATE_UNASSIGNED: "has ended on this worker",
    types_pb2.STATE_RESTARTING: "is restarting",
}


def _log_state(
    worker: str, instance: Instance, state: types_pb2.State.ValueType, generation: int, why: str | None
) -> None:
    """Log what an instance does from now on; of a trace in `why` only its first line."""
    kind = "connector" if instance.task is None else "task"
    failed = state == types_pb2.STATE_FAILED
    log_change(
        log,
        f"{kind} {_STATE_PHRASES.get(state, 'is in an unknown state')}",
        logging.ERROR if failed else logging.INFO,
        connector=instance.connector,
        task=instance.task,
        worker=worker,
        generation=generation,
        why=why.partition("\n")[0] if why else None,
    )


MAX_STATUSES_PER_CALL = 1000
#: A status that is not written by then is in the service's hands; what was reported meanwhile has its turn.
HAND_OVER_SECONDS = 2.0
RETRY = RetryPolicy(first=0.1, factor=2.0, ceiling=2.0)

UNASSIGNED = types_pb2.STATE_UNASSIGNED
RUNNING = types_pb2.STATE_RUNNING
PAUSED = types_pb2.STATE_PAUSED
STOPPED = types_pb2.STATE_STOPPED
FAILED = types_pb2.STATE_FAILED
RESTARTING = types_pb2.STATE_RESTARTING


class StatusOutbox:
    """Reports statuses; one that waits is replaced by a newer one of the same instance."""

    def __init__(
        self,
        worker_id: str,
        services: ServiceStubs,
        is_configured: Callable[[Instance], bool],
    ) -> None:
        """Of an instance that `is_configured` denies nothing is reported: it was deleted."""
        self._is_configured = is_configured
        self._worker_id = worker_id
        self._services = services
        self._waiting: NewestWaiting[Instance, pb.InstanceStatus] = NewestWaiting()
        self._changes = ChangeSignal()
        self._sent = ChangeSignal()

    def report(
        self,
        instance: Instance,
        state: types_pb2.State.ValueType,
        generation: int,
        *,
        trace: str | None = None,
        version: str | None = None,
    ) -> None:
        """Report what an instance does now."""
        if not self._is_configured(instance):
            _log_state(self._worker_id, instance, state, generation, "it was deleted")
            return
        _log_state(self._worker_id, instance, state, generation, trace)
        status = pb.Status(
            state=state,
            trace=trace,
            worker_id=self._worker_id,
            generation=generation,
            version=version,
            since_ms=int(time.time() * 1000),
        )
        message = pb.InstanceStatus(connector=instance.connector, task=instance.task, status=status)
        self._waiting.put({instance: message})
        self._changes.notify()

    def forget(self, connector: str) -> None:
        """Report nothing more of a connector that exists no longer, and of its tasks."""
        self._waiting.forget(lambda instance: instance.connector == connector)

    async def run(self) -> None:
        """Hand what is reported to the status service, until cancelled."""
        seen_changes = 0
        while True:
            seen_changes = await self._changes.wait(seen_changes)
            while self._waiting:
                await until_it_works(
                    self._hand_over,
                    RETRY,
                    complaint="statuses are not written yet, and are kept until they are",
                )
                self._sent.notify()

    async def flushed(self, seconds: float) -> bool:
        """Wait until all is sent; False when the time was not enough."""
        try:
            async with asyncio.timeout(seconds):
                seen_changes = self._sent.count
                while self._waiting:
                    seen_changes = await self._sent.wait(seen_changes)
        except TimeoutError:
            return False
        return True

    async def _hand_over(self) -> None:
        """Hand over what waits longest; what is not written in time stays, and others have their turn.

        The service alone retries: asked again for a status that it is writing, it makes no more attempts.
        """
        batch = self._waiting.oldest(MAX_STATUSES_PER_CALL)
        if not batch:  # forgotten meanwhile
            return
        request = pb.ReportStatusesRequest(statuses=list(batch.values()))
        try:
            await self._services.status.ReportStatuses(request, timeout=HAND_OVER_SECONDS)
        except CopycatError as error:
            remaining = self._waiting.remaining(batch)
            if is_transient(error):
                self._waiting.put(remaining)
                raise
            log.warning("the status service refused %d statuses: %s", len(remaining), error)
        self._waiting.done(batch)
