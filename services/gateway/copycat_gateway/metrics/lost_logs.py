"""Which services have lost their log, as their metrics say."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final

from copycat.metrics.v1 import metrics_service_pb2 as pb
from copycat.metrics.v1.metrics_service_pb2_grpc import MetricsServiceStub
from copycat_connect.errors import CopycatError
from copycat_telemetry.metrics.worker_groups import EVENT_LOG, LOST_BECAUSE

if TYPE_CHECKING:
    import grpc

#: What was heard is good for so long: many statuses may be asked for at once.
GOOD_FOR_SECONDS: Final = 1.0
ANSWER_TIMEOUT_SECONDS: Final = 2.0
#: A service that is away holds up nobody who asks: what was heard last counts then.
PATIENCE_SECONDS: Final = 0.5
_OFFSET: Final = "offset"
_SINK: Final = "sink"


class LostLogs:
    """Asks all services at once; of one that does not answer counts what it said last."""

    def __init__(self, channels: Mapping[str, grpc.aio.Channel]) -> None:
        """Use these channels, one to each service, by role."""
        self._stubs = {role: MetricsServiceStub(channel) for role, channel in channels.items()}
        self._heard: dict[str, str] = {}
        self._good_until = float("-inf")
        self._asking: asyncio.Task[None] | None = None

    async def reasons(self) -> Mapping[str, str]:
        """Return why logs are lost, by role; empty while all is well."""
        if asyncio.get_running_loop().time() > self._good_until:
            if self._asking is None:
                self._asking = asyncio.create_task(self._ask_all())
            await asyncio.wait((self._asking,), timeout=PATIENCE_SECONDS)
        return self._heard

    async def reason(self) -> str:
        """Return all reasons as one text; empty while all is well."""
        return _text((await self.reasons()).values())

    async def close(self) -> None:
        """Ask no more."""
        if self._asking is not None:
            self._asking.cancel()
            await asyncio.wait((self._asking,))

    async def _ask_all(self) -> None:
        try:
            answers = await asyncio.gather(*map(self._ask, self._stubs))
            said = dict(zip(self._stubs, answers, strict=True))
            heard = {role: self._heard.get(role, "") if why is None else why for role, why in said.items()}
            self._heard = {role: why for role, why in heard.items() if why}
            self._good_until = asyncio.get_running_loop().time() + GOOD_FOR_SECONDS
        finally:
            self._asking = None

    async def _ask(self, role: str) -> str | None:
        """Return what a service says; None where it does not answer."""
        try:
            reply = await self._stubs[role].ReadMetrics(
                pb.ReadMetricsRequest(), timeout=ANSWER_TIMEOUT_SECONDS
            )
        except CopycatError:
            return None
        return next(
            (
                metric.text
                for group in reply.groups
                if group.name == EVENT_LOG.name
                for metric in group.metrics
                if metric.name == LOST_BECAUSE
            ),
            "",
        )


def concerning(reasons: Mapping[str, str], kind: str) -> str:
    """Return the reasons that concern a connector of a kind: sinks keep their offsets elsewhere."""
    return _text(why for role, why in reasons.items() if (role, kind) != (_OFFSET, _SINK))


def _text(reasons: Iterable[str]) -> str:
    return " ".join(dict.fromkeys(reasons))
