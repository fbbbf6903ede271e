"""The worker's lease: beats that say all it holds, each second and at once when that changes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator

from copycat.scheduler.v1 import scheduler_service_pb2 as pb
from copycat_connect.cluster import Instance
from copycat_connect.errors import CopycatError
from copycat_connect.retry import RetryPolicy
from copycat_rpc.services import ServiceStubs

from copycat_executor.peers import messages
from copycat_executor.state.board import Board

log = logging.getLogger(__name__)

HEARTBEAT_INTERVAL_SECONDS = 1.0
#: Every heartbeat is answered at once: a scheduler that is silent for this long hangs. The connection itself
#: shows that too late, and the standby gives workers one lease to join.
SCHEDULER_SILENCE_TIMEOUT_SECONDS = 2 * HEARTBEAT_INTERVAL_SECONDS
JOIN_RETRY = RetryPolicy(first=0.05, factor=2.0, ceiling=1.0)
#: So many failures in a row are not worth a line in the log: a scheduler may hand over to its standby.
SILENT_FAILURES = 15


class Membership:
    """Keeps the lease while it runs. Without a scheduler all that runs here goes on."""

    def __init__(self, worker_id: str, services: ServiceStubs, board: Board) -> None:
        self._worker_id = worker_id
        self._services = services
        self._board = board
        self._leaving = False
        self.joined = asyncio.Event()

    def leave(self) -> None:
        """Say from the next beat on, which is sent at once, that the worker drains."""
        self._leaving = True
        self._board.bell.ring()

    async def run(self) -> None:
        """Beat until cancelled, joining again whenever the stream is lost."""
        loop, waits, failures = asyncio.get_running_loop(), JOIN_RETRY.waits(), 0
        while True:
            try:
                async with asyncio.timeout(SCHEDULER_SILENCE_TIMEOUT_SECONDS) as silence:
                    async for _ in self._services.scheduler.Join(self._beats()):
                        silence.reschedule(
                            loop.time() + HEARTBEAT_INTERVAL_SECONDS + SCHEDULER_SILENCE_TIMEOUT_SECONDS
                        )
                        waits, failures = JOIN_RETRY.waits(), 0
                        self.joined.set()
            except (CopycatError, TimeoutError) as error:
                failures += 1
                if failures == SILENT_FAILURES:
                    log.warning("the scheduler cannot be reached and is tried until it works: %s", error)
            await asyncio.sleep(next(waits))

    async def _beats(self) -> AsyncIterator[pb.JoinRequest]:
        while True:
            rings = self._board.bell.rings
            held, leaving = self._board.held(), self._leaving
            yield self._beat(held, leaving)
            try:
                async with asyncio.timeout(HEARTBEAT_INTERVAL_SECONDS):
                    while (self._board.held(), self._leaving) == (held, leaving):
                        rings = await self._board.bell.next_ring(rings)
            except TimeoutError:
                pass

    def _beat(self, held: dict[Instance, int], leaving: bool) -> pb.JoinRequest:
        return pb.JoinRequest(
            worker_id=self._worker_id,
            held=[messages.held(instance, generation) for instance, generation in held.items()],
            leaving=leaving,
        )
