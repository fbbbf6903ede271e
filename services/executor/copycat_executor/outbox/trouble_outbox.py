"""What keeps connectors and tasks of this worker from moving, reported to the status service while it lasts.

What lasts for some seconds is also a line in the log and an act in the history, and so is its end.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import Final

from copycat.status.v1 import status_service_pb2 as pb
from copycat.status.v1.status_service_pb2_grpc import StatusServiceStub
from copycat_connect.cluster import Instance
from copycat_connect.errors import CopycatError
from copycat_rpc.acts import MOVES, STUCK, WAITS, ActReporter
from copycat_rpc.services import ServiceStubs
from copycat_telemetry.changes import log_each

from copycat_executor.background import ChangeSignal

log = logging.getLogger(__name__)

#: The status service forgets after ten seconds what is not repeated.
REPEAT_INTERVAL_SECONDS: Final = 3.0
#: What changes meanwhile is sent together.
SHORTEST_INTERVAL_SECONDS: Final = 0.5
CALL_TIMEOUT_SECONDS: Final = 2.0
MAX_TROUBLES: Final = 1000
#: What is over sooner is in no log and no history.
NOTED_AFTER_SECONDS: Final = 3.0
#: One whose words change is noted again after this time.
NOTED_AGAIN_AFTER_SECONDS: Final = 60.0
SAID: Final = {
    pb.TROUBLE_KIND_HANGS: "{call} has not returned: {text}",
    pb.TROUBLE_KIND_RETRIES: "{call} fails: {text}",
    pb.TROUBLE_KIND_WAITS: "{text}",
}


@dataclass(slots=True, eq=False)
class OpenTrouble:
    """What keeps one instance from moving at the moment, if anything does."""

    instance: Instance
    generation: int = 0
    """With which its start began."""
    trouble: pb.Trouble | None = None
    noted: tuple[float, str] | None = None
    """When it was logged, and in which words."""


class TroubleOutbox:
    """Sends the newest trouble of each instance; without one nothing is sent."""

    def __init__(
        self,
        worker_id: str,
        services: ServiceStubs,
        generation_for: Callable[[Instance, int], int],
        acts: ActReporter,
    ) -> None:
        """`generation_for` returns the generation under which an instance that began with one runs now."""
        self._worker_id = worker_id
        # It is in no log, so standbys, which answer questions too, are sent it as well.
        self._stubs = [StatusServiceStub(channel) for channel in services.every_instance("status")]
        self._generation_for = generation_for
        self._acts = acts
        self._open: dict[OpenTrouble, None] = {}  # in the order in which they began
        self._sent_any = False
        self._changes = ChangeSignal()

    def report(self, of: OpenTrouble, generation: int, trouble: pb.Trouble) -> None:
        """Report what keeps an instance from moving, in place of what was reported before."""
        of.generation, of.trouble = generation, trouble
        self._open[of] = None
        self._changes.notify()

    def over(self, of: OpenTrouble) -> None:
        """Report that nothing keeps an instance from moving any more."""
        if of.noted is not None:
            self._note(of.instance, logging.INFO, MOVES, None)
        self.withdraw(of)

    def withdraw(self, of: OpenTrouble) -> None:
        """Report no trouble of an instance that rests, has failed, or runs here no longer."""
        of.noted = None
        if of.trouble is not None:
            of.trouble = None
            del self._open[of]
            self._changes.notify()

    async def run(self) -> None:
        """Send troubles to the status service, until cancelled."""
        seen_changes = 0
        while True:
            try:
                async with asyncio.timeout(REPEAT_INTERVAL_SECONDS if self._sent_any else None):
                    seen_changes = await self._changes.wait(seen_changes)
            except TimeoutError:
                pass  # time to repeat it
            self._note_lasting()
            await self._send()
            await asyncio.sleep(SHORTEST_INTERVAL_SECONDS)

    async def _send(self) -> None:
        troubles = [self._named(each) for each in islice(self._open, MAX_TROUBLES)]
        request = pb.ReportTroublesRequest(worker_id=self._worker_id, troubles=troubles)
        self._sent_any = bool(troubles)
        calls = [stub.ReportTroubles(request, timeout=CALL_TIMEOUT_SECONDS) for stub in self._stubs]
        for failure in await asyncio.gather(*calls, return_exceptions=True):
            if isinstance(failure, CopycatError):
                log.debug("an instance of the status service was not told of troubles: %s", failure)
            elif isinstance(failure, BaseException):
                raise failure

    def _named(self, of: OpenTrouble) -> pb.Trouble:
        """Return a trouble with whose it is; the generation may have changed while it lasts."""
        named = pb.Trouble(
            connector=of.instance.connector,
            task=of.instance.task,
            generation=self._generation_for(of.instance, of.generation),
        )
        if of.trouble is not None:
            named.MergeFrom(of.trouble)
        return named

    def _note_lasting(self) -> None:
        """Log and record what has lasted long enough and was not noted before."""
        now = time.time()
        for of in self._open:
            trouble = of.trouble
            if trouble is None or now - trouble.since_ms / 1000 < NOTED_AFTER_SECONDS:
                continue
            why = SAID.get(trouble.kind, "{text}").format(call=trouble.call, text=trouble.text)
            at, said = of.noted or (0.0, "")
            if said != why and now - at >= NOTED_AGAIN_AFTER_SECONDS:
                of.noted = (now, why)
                what = WAITS if trouble.kind == pb.TROUBLE_KIND_WAITS else STUCK
                self._note(of.instance, logging.WARNING, what, why)

    def _note(self, instance: Instance, level: int, what: str, why: str | None) -> None:
        kind = "connector" if instance.task is None else "task"
        log_each(
            log,
            f"{kind} {what}",
            level,
            connector=instance.connector,
            task=instance.task,
            worker=self._worker_id,
            why=why,
        )
        self._acts.report(instance, what, why or "")
