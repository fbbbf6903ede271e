"""What a cluster of so many connectors costs its services, one figure after the other."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import httpx2
from copycat.config.v1 import config_service_pb2 as config_pb
from copycat.scheduler.v1 import scheduler_service_pb2 as scheduler_pb
from copycat.status.v1 import status_service_pb2 as status_pb
from copycat.types.v1 import types_pb2
from copycat_connect.errors import CopycatError
from copycat_rpc.messages import config_to_proto
from copycat_rpc.services import ServiceStubs

from tools.load.crowd import name_of
from tools.load.page import COUNTED_ONLY
from tools.load.simulation.plane import WORKERS, Plane, config
from tools.load.simulation.worker import TASKS

CREATED_AT_A_TIME: Final = 32
LOOK_SECONDS: Final = 2.0
REST_SECONDS: Final = 10.0
ANSWERS: Final = 5
ANSWER_SECONDS: Final = 120.0
MB: Final = 1e6
PATHS: Final = (
    "/connectors",
    "/connectors?expand=status&expand=info",
    "/connectors/load-00000/status",
)


@dataclass
class Figures:
    """What one size of cluster showed; None is what did not come within the patience."""

    connectors: int
    values: dict[str, float | None] = field(default_factory=dict)
    """By name, with its unit in the name."""
    failures: list[str] = field(default_factory=list)
    """What was refused or did not come."""


class Measuring:
    """Grows one cluster and looks at it."""

    def __init__(
        self, plane: Plane, services: ServiceStubs, patience: float, say: Callable[[str], None]
    ) -> None:
        self._plane = plane
        self._services = services
        self._patience = patience
        self._say = say
        self._connectors = 0

    async def grow(self, connectors: int) -> Figures:
        """Define connectors until there are so many, and measure what that cluster costs."""
        figures, before = Figures(connectors), self._plane.cpu_seconds()
        began = time.monotonic()
        added = range(self._connectors, connectors)
        await self._create(added)
        figures.values["defined, connectors/s"] = len(added) / (time.monotonic() - began)
        await self._grown(figures, before, began, len(added))
        return figures

    async def found(self, connectors: int, began: float) -> Figures:
        """Measure a cluster that had so many connectors when its services started, at `began`."""
        figures = Figures(connectors)
        await self._grown(figures, dict.fromkeys(self._plane.cpu_seconds(), 0.0), began, connectors)
        return figures

    async def _grown(self, figures: Figures, before: Mapping[str, float], began: float, added: int) -> None:
        self._connectors = figures.connectors
        settled = await self._settled(figures, "all run")
        figures.values["all run after, s"] = None if settled is None else settled - began
        self._cpu(figures, before, "growth", ", CPU ms a connector", 1000 / added)
        if settled is None:
            return
        await self._rest(figures)
        await self._answers(figures)
        figures.values.update({f"{role}, MB": mb for role, mb in self._plane.memory_mb().items()})
        self._say(f"so far: {figures.values}")  # what follows may take long, and may never end
        await self._lose_a_worker(figures)
        figures.values.update(
            {f"{COUNTED_ONLY}{name}": count for name, count in self._plane.troubles().items()}
        )

    async def replay(self, figures: Figures) -> None:
        """Kill each service and measure how long it takes to read its log and serve again."""
        for role in ("config", "status", "scheduler"):
            member = self._plane.cluster.members[role][0]
            member.kill()
            began = time.monotonic()
            member.start()
            await asyncio.to_thread(member.wait_serving)
            figures.values[f"{role} serves after kill -9, s"] = time.monotonic() - began
        await self._settled(figures, "all run after the services were killed")

    async def _create(self, numbers: range) -> None:
        waiting = iter(numbers)

        async def create() -> None:
            for number in waiting:
                name = name_of(number)
                request = config_pb.PutConnectorRequest(name=name, config=config_to_proto(config(name)))
                await self._services.config.PutConnector(request, timeout=ANSWER_SECONDS)

        await asyncio.gather(*(create() for _ in range(CREATED_AT_A_TIME)))

    async def _settled(self, figures: Figures, what: str, gone: str = "") -> float | None:
        """Wait until every task runs, none of them on the worker that is gone; returns when that was so."""
        end, wanted, found = time.monotonic() + self._patience, self._connectors * TASKS, 0
        while time.monotonic() < end:
            try:
                reply = await self._services.status.ListConnectorStatuses(
                    status_pb.ListConnectorStatusesRequest(), timeout=ANSWER_SECONDS
                )
            except CopycatError as error:
                figures.failures.append(f"{what}: {error}")
                await asyncio.sleep(LOOK_SECONDS)
                continue
            tasks = [task for each in reply.statuses for task in each.tasks.values()]
            found = sum(t.state == types_pb2.STATE_RUNNING and t.worker_id != gone for t in tasks)
            self._say(f"{self._connectors} connectors, {what}: {found} of {wanted} tasks")
            if found == wanted:
                return time.monotonic()
            await asyncio.sleep(LOOK_SECONDS)
        figures.failures.append(f"{what}: {found} of {wanted} tasks after {self._patience:.0f} s")
        return None

    async def _rest(self, figures: Figures) -> None:
        before = self._plane.cpu_seconds()
        await asyncio.sleep(REST_SECONDS)  # the measurement is of time itself
        self._cpu(figures, before, "rest", ", % of a core", 100 / REST_SECONDS)

    async def _answers(self, figures: Figures) -> None:
        asked: dict[str, Callable[[], Awaitable[Any]]] = {
            "ListConnectors": lambda: self._services.config.ListConnectors(
                config_pb.ListConnectorsRequest(), timeout=ANSWER_SECONDS
            ),
            "ListConnectorStatuses": lambda: self._services.status.ListConnectorStatuses(
                status_pb.ListConnectorStatusesRequest(), timeout=ANSWER_SECONDS
            ),
            "ListAssignments": lambda: self._services.scheduler.ListAssignments(
                scheduler_pb.ListAssignmentsRequest(), timeout=ANSWER_SECONDS
            ),
        }
        for name, ask in asked.items():
            await self._answer(figures, name, ask, lambda reply: reply.ByteSize())
        url = self._plane.cluster.urls()[0]
        async with httpx2.AsyncClient(base_url=url, timeout=ANSWER_SECONDS) as http:
            for path in PATHS:
                await self._answer(
                    figures, f"GET {path}", partial(http.get, path), lambda reply: len(reply.content)
                )
        began = time.perf_counter()
        await self._snapshot()
        figures.values["snapshot of a watch of assignments, ms"] = 1000 * (time.perf_counter() - began)

    async def _answer(
        self, figures: Figures, name: str, ask: Callable[[], Awaitable[Any]], size: Callable[[Any], int]
    ) -> None:
        seconds = []
        try:
            for _ in range(ANSWERS):
                began = time.perf_counter()
                reply = await ask()
                seconds.append(time.perf_counter() - began)
        except (CopycatError, httpx2.HTTPError) as error:
            figures.failures.append(f"{name}: {error or type(error).__name__}")
            figures.values[f"{name}, ms"] = None
            return
        figures.values[f"{name}, ms"] = 1000 * sorted(seconds)[len(seconds) // 2]
        figures.values[f"{name}, MB"] = size(reply) / MB
        if isinstance(reply, httpx2.Response) and not reply.is_success:
            figures.failures.append(f"{name}: {reply.status_code} {reply.text[:200]}")

    async def _snapshot(self) -> None:
        watch = self._services.scheduler.WatchAssignments(scheduler_pb.WatchAssignmentsRequest())
        async for message in watch:
            if message.snapshot_complete:
                break
        watch.cancel()

    async def _lose_a_worker(self, figures: Figures) -> None:
        before, began = self._plane.cpu_seconds(), time.monotonic()
        gone = self._plane.kill_worker(WORKERS - 1)
        settled = await self._settled(figures, "all run after a worker was killed", gone)
        figures.values["all run after a worker was killed, s"] = None if settled is None else settled - began
        after = self._plane.cpu_seconds()
        figures.values["scheduler, loss of a worker, CPU s"] = after["scheduler"] - before["scheduler"]
        began = time.monotonic()
        self._plane.start_worker(WORKERS - 1)
        settled = await self._returned(figures)
        figures.values["spread anew after it came back, s"] = None if settled is None else settled - began

    async def _returned(self, figures: Figures) -> float | None:
        """Wait until the worker that came back has its share, and all run."""
        end, share = time.monotonic() + self._patience, self._connectors * TASKS // WORKERS
        while time.monotonic() < end:
            reply = await self._services.status.ListConnectorStatuses(
                status_pb.ListConnectorStatusesRequest(), timeout=ANSWER_SECONDS
            )
            on = [
                task.worker_id
                for each in reply.statuses
                for task in each.tasks.values()
                if task.state == types_pb2.STATE_RUNNING
            ]
            least = min((on.count(name) for name in set(on)), default=0)
            self._say(f"{self._connectors} connectors, spread anew: {len(on)} run, {least} on the emptiest")
            if len(on) == self._connectors * TASKS and len(set(on)) == WORKERS and least >= share:
                return time.monotonic()
            await asyncio.sleep(LOOK_SECONDS)
        figures.failures.append(f"not spread anew after {self._patience:.0f} s")
        return None

    def _cpu(
        self, figures: Figures, before: Mapping[str, float], name: str, unit: str, factor: float
    ) -> None:
        after = self._plane.cpu_seconds()
        for role, used in after.items():
            figures.values[f"{role}, {name}{unit}"] = (used - before[role]) * factor
