"""The worker's lease: beats that say all it holds, twice a second and soon after that changes."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import suppress

from copycat.scheduler.v1 import scheduler_service_pb2 as pb
from copycat_connect.beats import until_beat
from copycat_connect.cluster import Instance, is_wildcard
from copycat_connect.errors import ConfigError, CopycatError
from copycat_connect.retry import RetryPolicy
from copycat_rpc.pace import LoopPace
from copycat_rpc.reach import Reach
from copycat_rpc.services import ServiceStubs

from copycat_executor import peers
from copycat_executor.settings import ADVERTISED, ExecutorSettings
from copycat_executor.state.lease import WorkerLease
from copycat_executor.state.runs import Runs

log = logging.getLogger(__name__)

HEARTBEAT_INTERVAL_SECONDS = 0.5
#: Every heartbeat is answered at once: a scheduler that is silent for this long hangs. The connection itself
#: shows that too late, and the standby gives workers one lease to join.
SCHEDULER_SILENCE_TIMEOUT_SECONDS = 2.0
JOIN_RETRY = RetryPolicy(first=0.05, factor=2.0, ceiling=1.0)
#: So many failures in a row are not worth a line in the log: a scheduler may hand over to its standby.
SILENT_FAILURES = 15
#: What a worker takes or stops within this time, one beat says.
CHANGES_TOGETHER_SECONDS = 0.02
#: A scheduler that has not answered for so long is looked for where it listens.
SILENCE_BEFORE_LOOK_SECONDS = 1.0
LOOK_TIMEOUT_SECONDS = 1.0

ReachOf = Callable[[str, float], Awaitable[Reach]]


class Membership:
    """Keeps the lease while it runs.

    What runs here goes on while no scheduler can give it to another worker: none listens, or one listens but
    hangs: before a scheduler ends the lease of a silent worker, it asks that worker at its address. What runs
    here ends when a machine of the scheduler does not even answer: then this machine may be what is cut off.
    """

    def __init__(
        self, worker_id: str, services: ServiceStubs, runs: Runs, lease: WorkerLease, reach: ReachOf
    ) -> None:
        """`lease` is kept here; `reach` asks whether somebody listens at an address, within some seconds."""
        self._worker_id = worker_id
        self._services = services
        self._runs = runs
        self._lease = lease
        self._reach = reach
        self._leaving = False
        self._pace = LoopPace(CHANGES_TOGETHER_SECONDS)
        self._answered_at = asyncio.get_running_loop().time()

    def leave(self) -> None:
        """Say from the next beat on, which is sent at once, that the worker drains."""
        self._leaving = True
        self._runs.changes.notify()

    async def run(self) -> None:
        """Beat until cancelled, joining again whenever the stream is lost."""
        async with asyncio.TaskGroup() as both:
            both.create_task(self._keep_joined())
            both.create_task(self._look_for_scheduler())

    async def _keep_joined(self) -> None:
        waits, failures = JOIN_RETRY.waits(), 0
        while True:
            try:
                async with asyncio.timeout(SCHEDULER_SILENCE_TIMEOUT_SECONDS) as silence:
                    async for _ in self._answers(silence):
                        waits, failures = JOIN_RETRY.waits(), 0
            except (CopycatError, TimeoutError) as error:
                failures += 1
                if failures == SILENT_FAILURES:
                    log.warning("the scheduler cannot be reached and is tried until it works: %s", error)
            await asyncio.sleep(next(waits))

    async def _answers(self, silence: asyncio.Timeout) -> AsyncIterator[None]:
        """Join, and take each answer for the beat it answers: they come in order."""
        loop, sent = asyncio.get_running_loop(), deque[float]()
        async for answer in self._services.scheduler.Join(self._beats(sent)):
            self._answered_at = loop.time()
            silence.reschedule(
                self._answered_at + HEARTBEAT_INTERVAL_SECONDS + SCHEDULER_SILENCE_TIMEOUT_SECONDS
            )
            self._lease.renewed(sent.popleft(), answer.lease_ms / 1000)
            yield

    async def _look_for_scheduler(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(until_beat(loop.time(), HEARTBEAT_INTERVAL_SECONDS))
            began = loop.time()
            if began - self._answered_at < SILENCE_BEFORE_LOOK_SECONDS:
                continue
            looks = [self._reach(each, LOOK_TIMEOUT_SECONDS) for each in self._addresses]
            if Reach.SILENT not in await asyncio.gather(*looks):
                self._lease.extend_without_scheduler(began)

    @property
    def _addresses(self) -> Sequence[str]:
        return self._services.addresses.scheduler

    async def _beats(self, sent: deque[float]) -> AsyncIterator[pb.JoinRequest]:
        """Yield beats; one that says something new comes before its time, with what else is new by then.

        Thousands of tasks that start or end are as many changes of a list of thousands, so these beats are
        paced. While it holds the same, a worker says the same again.
        """
        loop = asyncio.get_running_loop()
        lists, beat = -1, pb.JoinRequest()
        while True:
            seen_changes, leaving = self._runs.changes.count, self._leaving
            self._pace.begin()
            if (lists, beat.leaving) != (self._runs.lists, leaving):
                lists, beat = self._runs.lists, self._beat(self._runs.held(), leaving)
            sent.append(loop.time())
            yield beat
            try:
                async with asyncio.timeout(until_beat(loop.time(), HEARTBEAT_INTERVAL_SECONDS)):
                    while (self._runs.lists, self._leaving) == (lists, leaving):
                        seen_changes = await self._runs.changes.wait(seen_changes)
                    if self._leaving == leaving:
                        await self._gather(seen_changes)
            except TimeoutError:
                pass

    async def _gather(self, seen_changes: int) -> None:
        """Wait for what changes together; the last that is dropped is said at once: who leaves ends then."""
        with suppress(TimeoutError):
            async with asyncio.timeout(self._pace.pause()):
                while not self._runs.empty:
                    seen_changes = await self._runs.changes.wait(seen_changes)

    def _beat(self, held: dict[Instance, int], leaving: bool) -> pb.JoinRequest:
        return pb.JoinRequest(
            worker_id=self._worker_id,
            held=[peers.held(instance, generation) for instance, generation in held.items()],
            leaving=leaving,
        )


async def advertised_address(settings: ExecutorSettings, bound: str, host_name: str) -> str:
    """Return what the settings say; otherwise what was bound, with this machine's name for every address.

    Raises:
        ConfigError: Nobody could reach it by this machine's name.
    """
    host, _, port = bound.rpartition(":")
    if settings.advertised:
        return settings.advertised
    if not is_wildcard(host):
        return bound
    try:
        await asyncio.get_running_loop().getaddrinfo(host_name, int(port), type=socket.SOCK_STREAM)
    except OSError as error:
        raise ConfigError(
            f"The executor listens on {bound} and would be known as {host_name}:{port}, "
            f"but this machine cannot look that name up ({error}); set {ADVERTISED}",
            key=ADVERTISED,
        ) from error
    return f"{host_name}:{port}"
