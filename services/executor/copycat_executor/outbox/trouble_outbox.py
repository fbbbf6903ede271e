"""What keeps tasks of this worker from moving, told to the status service for as long as it lasts."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from itertools import islice
from typing import Final

from copycat.status.v1 import status_service_pb2 as pb
from copycat.status.v1.status_service_pb2_grpc import StatusServiceStub
from copycat_connect.cluster import Instance
from copycat_connect.errors import CopycatError
from copycat_rpc.services import ServiceStubs

from copycat_executor.background.bell import Bell

log = logging.getLogger(__name__)

#: The status service forgets after ten seconds what is not repeated.
REPEAT_INTERVAL_SECONDS: Final = 3.0
#: What changes meanwhile is told together.
SHORTEST_INTERVAL_SECONDS: Final = 0.5
CALL_TIMEOUT_SECONDS: Final = 2.0
MAX_TROUBLES: Final = 1000


class TroubleOutbox:
    """Holds the newest trouble of each instance; nothing is sent while there is none."""

    def __init__(
        self, worker_id: str, services: ServiceStubs, generation_for: Callable[[Instance, int], int]
    ) -> None:
        """`generation_for` returns the generation under which an instance that began with one runs now."""
        self._worker_id = worker_id
        # In no log: standbys know of it only if they are told, and they answer questions too.
        self._stubs = [StatusServiceStub(channel) for channel in services.every_instance("status")]
        self._generation_for = generation_for
        self._troubles: dict[Instance, tuple[int, pb.Trouble]] = {}
        self._told = False
        self._bell = Bell()

    def tell(self, instance: Instance, generation: int, trouble: pb.Trouble) -> None:
        """Tell what keeps an instance from moving, in place of what was told before."""
        self._troubles[instance] = (generation, trouble)
        self._bell.ring()

    def over(self, instance: Instance) -> None:
        """Nothing keeps an instance from moving any more, or it runs here no longer."""
        if self._troubles.pop(instance, None) is not None:
            self._bell.ring()

    async def run(self) -> None:
        """Tell the status service, until cancelled."""
        rings = 0
        while True:
            try:
                async with asyncio.timeout(REPEAT_INTERVAL_SECONDS if self._told else None):
                    rings = await self._bell.next_ring(rings)
            except TimeoutError:
                pass  # time to repeat it
            await self._send()
            await asyncio.sleep(SHORTEST_INTERVAL_SECONDS)

    async def _send(self) -> None:
        troubles = [
            self._named(instance, generation, trouble)
            for instance, (generation, trouble) in islice(self._troubles.items(), MAX_TROUBLES)
        ]
        request = pb.ReportTroublesRequest(worker_id=self._worker_id, troubles=troubles)
        self._told = bool(troubles)
        calls = [stub.ReportTroubles(request, timeout=CALL_TIMEOUT_SECONDS) for stub in self._stubs]
        for failure in await asyncio.gather(*calls, return_exceptions=True):
            if isinstance(failure, CopycatError):
                log.debug("an instance of the status service was not told of troubles: %s", failure)
            elif isinstance(failure, BaseException):
                raise failure

    def _named(self, instance: Instance, generation: int, trouble: pb.Trouble) -> pb.Trouble:
        """Return a trouble with whose it is; the generation may have changed while it lasts."""
        told = pb.Trouble(
            connector=instance.connector,
            task=instance.task,
            generation=self._generation_for(instance, generation),
        )
        told.MergeFrom(trouble)
        return told
