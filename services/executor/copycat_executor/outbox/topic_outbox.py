"""Active topics on their way to the status service (KIP-558)."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from copycat.status.v1 import status_service_pb2 as pb
from copycat_connect.cluster import Instance
from copycat_connect.errors import CopycatError
from copycat_connect.retry import RetryPolicy
from copycat_rpc.errors import code_of
from copycat_rpc.services import ServiceStubs

from copycat_executor.background import ChangeSignal
from copycat_executor.outbox.until_it_works import until_it_works
from copycat_executor.peers import is_transient

log = logging.getLogger(__name__)

#: What the status service says of topics that it could not write in all its attempts.
GIVEN_UP = "status.given_up"
#: Topics that are not written by then are in the service's hands.
HAND_OVER_SECONDS = 2.0
RETRY = RetryPolicy(first=0.2, factor=2.0, ceiling=5.0)


@dataclass(slots=True, eq=False)
class SeenTopics:
    """Topics that one task met and that are not reported yet."""

    task: Instance
    names: frozenset[str] = frozenset()
    since_ms: int = 0
    """When it met the first of them."""


class TopicOutbox:
    """Reports the topics tasks met; what the service gives up is reported again with the next record."""

    def __init__(
        self, services: ServiceStubs, is_configured: Callable[[Instance], bool], *, tracking: bool
    ) -> None:
        """With `tracking` false (`topic.tracking.enable`) nothing is reported.

        Nor is anything of a connector that `is_configured` denies: its topics were forgotten with it, and
        what its tasks still say while they drain would bring them back for ever.
        """
        self._is_configured = is_configured
        self._services = services
        self._tracking = tracking
        self._waiting: dict[SeenTopics, None] = {}  # in the order of their turns
        self._changes = ChangeSignal()

    def seen(self, seen: SeenTopics, topics: Iterable[str]) -> None:
        """Report topics a task met."""
        if not self._tracking or not self._is_configured(Instance(seen.task.connector)):
            return
        if seen not in self._waiting:
            seen.names, seen.since_ms = frozenset(), int(time.time() * 1000)
            self._waiting[seen] = None
        seen.names = seen.names.union(topics)
        self._changes.notify()

    def forget(self, connector: str) -> None:
        """Report nothing more of a connector that exists no longer."""
        for seen in [seen for seen in self._waiting if seen.task.connector == connector]:
            del self._waiting[seen]

    async def run(self) -> None:
        """Send topics to the status service, until cancelled."""
        seen_changes = 0
        while True:
            seen_changes = await self._changes.wait(seen_changes)
            while self._waiting:
                await until_it_works(self._send_next, RETRY)

    async def _send_next(self) -> None:
        """Hand over what one task met, if anything waits; what is not written in time has another turn."""
        if not self._waiting:
            return
        seen = next(iter(self._waiting))
        names = seen.names
        request = pb.ReportTopicsRequest(
            connector=seen.task.connector,
            task=seen.task.task_number,
            topics=sorted(names),
            discover_timestamp_ms=seen.since_ms,
        )
        try:
            await self._services.status.ReportTopics(request, timeout=HAND_OVER_SECONDS)
        except CopycatError as error:
            if is_transient(error) and code_of(error).name != GIVEN_UP:
                self._let_others_pass(seen)
                raise
            log.warning("the topics of %s are not recorded: %s", seen.task, error)
        self._sent(seen, names)

    def _let_others_pass(self, seen: SeenTopics) -> None:
        if seen in self._waiting:
            del self._waiting[seen]
            self._waiting[seen] = None

    def _sent(self, seen: SeenTopics, names: frozenset[str]) -> None:
        if seen not in self._waiting:
            return  # its connector was deleted meanwhile
        seen.names -= names
        del self._waiting[seen]
        if seen.names:
            self._waiting[seen] = None
