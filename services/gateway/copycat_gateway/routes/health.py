"""`/health`: whether this worker is fit to serve (KIP-1017)."""

from __future__ import annotations

import asyncio
from typing import Final, TypedDict

from copycat.config.v1 import config_service_pb2 as config_pb2
from copycat.offset.v1 import offset_service_pb2 as offset_pb2
from copycat_connect.errors import CopycatError
from copycat_rpc.errors import code_of
from copycat_telemetry.metrics.groups import EVENT_LOG, LAST_UNREADABLE_RECORD, UNREADABLE_RECORDS
from litestar import Response, get
from litestar.di import NamedDependency

from copycat_gateway.clients import Services
from copycat_gateway.edge.answers import answer
from copycat_gateway.edge.openapi.operations import documented
from copycat_gateway.edge.progress import now
from copycat_gateway.errors import CONNECTOR_UNKNOWN
from copycat_gateway.scrape import ServiceMetrics

RETRY_DELAY_SECONDS: Final = 0.2
"""Seconds between two looks."""
LOADING: Final = "initializing and reading to the end of internal topics"
WRITING: Final = "writing to the config topic"
JOINING: Final = "ensuring membership in the cluster"


class ServiceHealth:
    """Looks at the services; remembers only whether all was well before."""

    def __init__(self, services: Services, *, patience: float) -> None:
        """`patience`: seconds to wait for the services to answer."""
        self._services = services
        self._patience = patience
        self._waiting = ""
        self._waiting_since = ""
        self.was_ready = False

    async def obstacle(self) -> str:
        """Return what is missing, in Kafka Connect's words, after waiting for it; empty when all is well.

        A log that is lost is not waited for: it does not come back by itself.
        """
        loop = asyncio.get_running_loop()
        give_up = loop.time() + self._patience
        while True:
            lost = await self._services.lost_logs.reason()
            if lost:
                return lost
            doing = await self._missing(max(give_up - loop.time(), RETRY_DELAY_SECONDS))
            if not doing:
                self.was_ready, self._waiting = True, ""
                return ""
            if doing != self._waiting:
                self._waiting, self._waiting_since = doing, now()
            if loop.time() >= give_up:
                return f"The worker is currently {doing}, which began at {self._waiting_since}."
            await asyncio.sleep(RETRY_DELAY_SECONDS)

    async def passed_over(self) -> str:
        """Return what the services could not read since they started; empty where they read everything."""
        found: dict[str, tuple[int, str]] = {}
        for read in await self._services.scrape.read_services():
            records, last = _unreadable(read)
            found[read.service] = max(found.get(read.service, (0, "")), (records, last))
        told = [
            f"{records} of the {service} service (the last: {last})"
            for service, (records, last) in found.items()
            if records
        ]
        return f"Records that could not be read were passed over: {'; '.join(told)}." if told else ""

    async def _missing(self, timeout: float) -> str:
        serving = await asyncio.gather(
            *(self._services.serves(role, timeout) for role in self._services.channels)
        )
        if not all(serving) or not await self._reaches_brokers(timeout):
            return LOADING
        if not await self._takes_writes(timeout):
            return WRITING
        try:
            workers = await self._services.workers.listed()
        except CopycatError:
            return LOADING
        return "" if any(not worker.leaving for worker in workers) else JOINING

    async def _reaches_brokers(self, timeout: float) -> bool:
        """Ask for the offsets of nobody: the answer takes the end of the log, which the brokers know."""
        try:
            await self._services.offset.ListSourceOffsets(
                offset_pb2.ListSourceOffsetsRequest(), timeout=timeout
            )
        except CopycatError:
            return False
        return True

    async def _takes_writes(self, timeout: float) -> bool:
        """Ask to restart nobody: only who writes refuses it, after what is being written has been."""
        try:
            await self._services.config.RequestRestart(config_pb2.RequestRestartRequest(), timeout=timeout)
        except CopycatError as error:
            return code_of(error).name == CONNECTOR_UNKNOWN
        return True


def _unreadable(answer: ServiceMetrics) -> tuple[int, str]:
    """Return how many records an instance of a service could not read, and where the last of them lies."""
    log = next((group for group in answer.groups or () if group.name == EVENT_LOG.name), None)
    values = {} if log is None else {metric.name: metric for metric in log.metrics}
    if UNREADABLE_RECORDS not in values or LAST_UNREADABLE_RECORD not in values:
        return 0, ""
    return int(values[UNREADABLE_RECORDS].total), values[LAST_UNREADABLE_RECORD].text


class HealthStatus(TypedDict):
    """healthy, starting or unhealthy, and what is missing or passed over."""

    status: str
    message: str


@get(
    "/health",
    summary="Say whether requests would be answered",
    tags=["worker"],
    operation_class=documented(shown={500: "Unhealthy, though it was well before.", 503: "Still starting."}),
)
async def check_health(health: NamedDependency[ServiceHealth]) -> Response[HealthStatus]:
    """Answer 200 when all is well, 503 while starting, 500 when it was well before."""
    known = health.was_ready
    obstacle = await health.obstacle()
    if not obstacle:
        text = "Worker has completed startup and is ready to handle requests."
        return answer(_shown("healthy", f"{text} {await health.passed_over()}".rstrip()))
    if known:
        text = (
            f"Worker was unable to handle this request and may be unable to handle other requests. {obstacle}"
        )
        return answer(_shown("unhealthy", text), 500)
    return answer(_shown("starting", f"Worker is still starting up. {obstacle}"), 503)


def _shown(status: str, message: str) -> HealthStatus:
    return {"status": status, "message": message}


HANDLERS = (check_health,)
