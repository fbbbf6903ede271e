"""The live executors: which there are, a channel to each, and how to ask one."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeVar

from copycat.executor.v1.executor_service_pb2_grpc import ExecutorServiceStub
from copycat.scheduler.v1 import scheduler_service_pb2 as scheduler_pb2
from copycat_connect.errors import UnavailableError
from copycat_rpc.channel import open_channel
from copycat_rpc.errors import RemoteError
from copycat_rpc.gate import DrainingError
from copycat_rpc.tls import ServicesTls
from grpc import ChannelConnectivity

from copycat_gateway.errors import INSTANCE_UNASSIGNED, ConflictError

if TYPE_CHECKING:
    import grpc
    from copycat.executor.v1.executor_service_pb2_grpc import ExecutorServiceAsyncStub
    from copycat.scheduler.v1.scheduler_service_pb2_grpc import SchedulerServiceAsyncStub

    ExecutorCall = Callable[[ExecutorServiceAsyncStub], Awaitable["R"]]

R = TypeVar("R")

WORKERS_VALID_SECONDS: Final = 1.0
"""Seconds a list of workers is used for."""
CONNECT_TIMEOUT_SECONDS: Final = 2.0
"""Seconds a worker may take to accept a connection before the next one is asked."""
RETRY_DELAY_SECONDS: Final = 0.2
"""Seconds between two looks for a worker."""
AWAY: Final = frozenset({UnavailableError.code.name, DrainingError.code.name, "spark.lost"})
"""What a worker says that cannot serve now, though it answers."""
CONFLICT: Final = "Cannot complete request because of a conflicting operation (e.g. worker rebalance)"


@dataclass(slots=True)
class _Connection:
    channel: grpc.aio.Channel
    calls: int = 0


class Workers:
    """Finds live workers through the scheduler; holds nothing but connections."""

    def __init__(
        self,
        scheduler: SchedulerServiceAsyncStub,
        *,
        secret: str = "",
        tls: ServicesTls | None = None,
        patience: float = 10.0,
    ) -> None:
        """`secret`, `tls`: the cluster's; `patience`: seconds to wait for a worker, or for an assignment."""
        self._scheduler = scheduler
        self._secret = secret
        self._tls = tls
        self._patience = patience
        self._connections: dict[str, _Connection] = {}
        self._known: Sequence[str] = ()
        self._known_at = float("-inf")
        self._turn = 0

    async def listed(self) -> Sequence[scheduler_pb2.Worker]:
        """Return the live workers as the scheduler sees them now."""
        return (await self._scheduler.ListWorkers(scheduler_pb2.ListWorkersRequest())).workers

    async def ask(self, call: ExecutorCall[R], *, patience: float | None = None) -> R:
        """Ask any live worker; one that does not answer is passed over.

        The call may reach two workers, so it must be one that changes nothing or may be repeated.

        Raises:
            UnavailableError: No worker answered in time.
        """
        loop = asyncio.get_running_loop()
        give_up = loop.time() + (self._patience if patience is None else patience)
        while True:
            for worker_id in await self._in_turn():
                try:
                    return await self._call(worker_id, call)
                except UnavailableError:
                    self._known_at = float("-inf")  # look again: it may be gone
            if loop.time() >= give_up:
                raise UnavailableError(
                    "No worker answered: there is no live executor to carry out this request."
                    " Start one, or try again once it has joined"
                )
            await asyncio.sleep(RETRY_DELAY_SECONDS)

    async def ask_owner(self, instance: scheduler_pb2.Instance, call: ExecutorCall[R]) -> R:
        """Ask the worker that runs an instance, waiting a while for it to have one.

        Raises:
            ConflictError: It is not assigned to a worker that answers, likely because workers move.
        """
        loop = asyncio.get_running_loop()
        give_up = loop.time() + self._patience
        while True:
            worker_id = await self._owner(instance)
            if worker_id is not None:
                try:
                    return await self._call(worker_id, call)
                except UnavailableError:
                    pass  # its lease runs out and another one takes over
                except RemoteError as error:
                    if error.remote_code.name != INSTANCE_UNASSIGNED:
                        raise
            if loop.time() >= give_up:
                raise ConflictError(CONFLICT)
            await asyncio.sleep(RETRY_DELAY_SECONDS)

    async def released(self, connector: str) -> bool:
        """Wait a while until no task of a connector runs or drains anywhere; False when one does not end.

        What it acknowledged last is committed by then, or the worker has lost its lease and commits no more.
        """
        loop = asyncio.get_running_loop()
        give_up = loop.time() + self._patience
        while await self._has_tasks(connector):
            if loop.time() >= give_up:
                return False
            await asyncio.sleep(RETRY_DELAY_SECONDS)
        return True

    async def close(self) -> None:
        """Close every connection."""
        connections, self._connections = self._connections, {}
        for connection in connections.values():
            await connection.channel.close(grace=None)

    async def _owner(self, instance: scheduler_pb2.Instance) -> str | None:
        listed = await self._scheduler.ListAssignments(scheduler_pb2.ListAssignmentsRequest())
        return next((found.worker_id for found in listed.assignments if found.instance == instance), None)

    async def _has_tasks(self, connector: str) -> bool:
        listed = await self._scheduler.ListAssignments(scheduler_pb2.ListAssignmentsRequest())
        assigned = (assignment.instance for assignment in listed.assignments)
        held = (held.instance for worker in await self.listed() for held in worker.held)
        return any(
            instance.connector == connector and instance.HasField("task") for instance in (*assigned, *held)
        )

    async def _in_turn(self) -> Sequence[str]:
        """Return the live workers starting with the next in turn; those that leave only where none stays."""
        now = asyncio.get_running_loop().time()
        # That there was no worker is not worth remembering: the next one may join at any moment.
        if not self._known or now - self._known_at > WORKERS_VALID_SECONDS:
            workers = await self.listed()
            await self._forget({worker.worker_id for worker in workers})
            staying = [worker.worker_id for worker in workers if not worker.leaving]
            self._known = staying or [worker.worker_id for worker in workers]
            self._known_at = now
        self._turn += 1
        start = self._turn % len(self._known) if self._known else 0
        return [*self._known[start:], *self._known[:start]]

    async def _forget(self, live: set[str]) -> None:
        """Close connections to workers that are gone, except where a request still waits on one."""
        gone = [
            name
            for name, connection in self._connections.items()
            if name not in live and not connection.calls
        ]
        for name in gone:
            await self._connections.pop(name).channel.close(grace=None)

    async def _call(self, worker_id: str, call: ExecutorCall[R]) -> R:
        connection = self._connections.get(worker_id)
        if connection is None:
            connection = self._connections[worker_id] = _Connection(
                open_channel([worker_id], secret=self._secret, tls=self._tls, standby=False)
            )
        connection.calls += 1
        try:
            await _ready(connection.channel, worker_id)
            return await call(ExecutorServiceStub(connection.channel))
        except RemoteError as error:
            if error.remote_code.name in AWAY:
                raise UnavailableError(error.message) from error
            raise
        finally:
            connection.calls -= 1


async def _ready(channel: grpc.aio.Channel, worker_id: str) -> None:
    """Wait for a connection: a call to a worker just gone would wait for its whole deadline."""
    refused = UnavailableError(f"Worker {worker_id} does not accept connections")
    try:
        async with asyncio.timeout(CONNECT_TIMEOUT_SECONDS):
            while (state := channel.get_state(try_to_connect=True)) is not ChannelConnectivity.READY:
                if state is ChannelConnectivity.TRANSIENT_FAILURE:
                    raise refused
                await channel.wait_for_state_change(state)
    except TimeoutError as error:
        raise refused from error
