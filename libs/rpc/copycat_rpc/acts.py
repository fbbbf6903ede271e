"""What a part of the cluster did by itself, on its way to the status service, which keeps it."""

from __future__ import annotations

import asyncio
import json
import logging
from collections import deque
from typing import TYPE_CHECKING, Final

from copycat.status.v1 import status_service_pb2 as pb
from copycat_connect.cluster import Instance
from copycat_connect.errors import CopycatError, UnavailableError

if TYPE_CHECKING:
    from copycat.status.v1.status_service_pb2_grpc import StatusServiceAsyncStub

log = logging.getLogger(__name__)

#: Waiting to be sent; of more the oldest are left out.
MAX_WAITING: Final = 1_000
RETRY_SECONDS: Final = 1.0
CALL_SECONDS: Final = 5.0

CIRCUIT_OPENED: Final = "circuit opened"
CIRCUIT_CLOSED: Final = "circuit closed"
LEFT_FAILED: Final = "left failed"
RESTARTED: Final = "restarted"
MOVED: Final = "moved"
HOST_DIED: Final = "host died"
WAITS: Final = "waits"
STUCK: Final = "does not move"
MOVES: Final = "moves again"


class ActReporter:
    """Sends acts in their order, in the background: nobody waits for it."""

    def __init__(self, status: StatusServiceAsyncStub, by: str) -> None:
        """`by` names the part of Copycat that acts."""
        self._status = status
        self._by = by
        self._waiting: deque[pb.RecordActRequest] = deque(maxlen=MAX_WAITING)
        self._some = asyncio.Event()

    def report(self, instance: Instance, what: str, reason: str, **about: object) -> None:
        """Report an act; `about` is what else there is to know of it, as JSON takes it. Never a secret."""
        told = {key: value for key, value in about.items() if value is not None}
        self._waiting.append(
            pb.RecordActRequest(
                connector=instance.connector,
                task=instance.task,
                what=what,
                reason=reason,
                by=self._by,
                about=json.dumps(told) if told else "",
            )
        )
        self._some.set()

    async def run(self) -> None:
        """Send until cancelled."""
        while True:
            await self._some.wait()
            self._some.clear()
            while self._waiting:
                await self._send(self._waiting[0])

    async def _send(self, request: pb.RecordActRequest) -> None:
        try:
            await self._status.RecordAct(request, timeout=CALL_SECONDS)
        except UnavailableError:
            await asyncio.sleep(RETRY_SECONDS)
            return
        except CopycatError as error:
            log.warning("what was done to %s is missing in its history: %s", request.connector, error)
        if self._waiting and self._waiting[0] is request:
            self._waiting.popleft()
