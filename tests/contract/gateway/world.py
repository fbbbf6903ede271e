"""Every service the gateway talks to, real gRPC servers on loopback, and the gateway, open or guarded."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import httpx2
from copycat.config.v1.config_service_pb2_grpc import add_ConfigServiceServicer_to_server
from copycat.executor.v1.executor_service_pb2_grpc import add_ExecutorServiceServicer_to_server
from copycat.history.v1 import history_service_pb2 as history_pb
from copycat.history.v1.history_service_pb2_grpc import (
    HistoryServiceServicer,
    add_HistoryServiceServicer_to_server,
)
from copycat.metrics.v1 import metrics_service_pb2 as metrics_pb
from copycat.metrics.v1.metrics_service_pb2_grpc import (
    MetricsServiceServicer,
    add_MetricsServiceServicer_to_server,
)
from copycat.offset.v1.offset_service_pb2_grpc import add_OffsetServiceServicer_to_server
from copycat.scheduler.v1 import scheduler_service_pb2 as scheduler_pb
from copycat.scheduler.v1.scheduler_service_pb2_grpc import (
    SchedulerServiceServicer,
    add_SchedulerServiceServicer_to_server,
)
from copycat.status.v1.status_service_pb2_grpc import add_StatusServiceServicer_to_server
from copycat_connect.errors import UnavailableError
from copycat_gateway.main import serve
from copycat_rpc.metrics import METRICS_SERVICE_NAME
from copycat_rpc.server import RpcServer

from tests.contract.gateway.fake_executor import FakeExecutor
from tests.contract.gateway.fake_services import FakeConfig, FakeOffset, FakeStatus
from tests.issuer import Issuer

LOOPBACK = "127.0.0.1:0"


class FakeHistory(HistoryServiceServicer):
    """Answers what a test gave it: changes by kind, and what it was asked for."""

    def __init__(self) -> None:
        self.changes: list[history_pb.PastChange] = []
        self.at: history_pb.ReadFactsAtResponse = history_pb.ReadFactsAtResponse()
        self.asked: list[history_pb.ReadHistoryRequest] = []
        self.asked_at: list[history_pb.ReadFactsAtRequest] = []

    async def ReadHistory(
        self, request: history_pb.ReadHistoryRequest, context: Any
    ) -> history_pb.ReadHistoryResponse:
        self.asked.append(request)
        found = [each for each in self.changes if each.kind in request.kinds]
        return history_pb.ReadHistoryResponse(changes=found[: request.limit])

    async def ReadFactsAt(
        self, request: history_pb.ReadFactsAtRequest, context: Any
    ) -> history_pb.ReadFactsAtResponse:
        self.asked_at.append(request)
        return self.at


class FakeMetrics(MetricsServiceServicer):
    """The metrics of the services that the fakes stand for; nothing is served until a test gives some."""

    def __init__(self) -> None:
        self.groups: list[metrics_pb.MetricGroup] | None = None
        self.asked = 0

    async def ReadMetrics(self, request: Any, context: Any) -> metrics_pb.ReadMetricsResponse:
        self.asked += 1
        if self.groups is None:
            await context.abort(grpc.StatusCode.UNIMPLEMENTED, "no metrics")
        return metrics_pb.ReadMetricsResponse(groups=self.groups)


class FakeScheduler(SchedulerServiceServicer):
    """Lists the workers and assignments that a test gives it."""

    def __init__(self) -> None:
        self.workers: dict[str, scheduler_pb.Worker] = {}
        self.assignments: list[scheduler_pb.Assignment] = []
        self.cluster_id: str | None = None
        self.away = False
        self.asked = asyncio.Event()
        self._then: Callable[[], None] | None = None

    def assigns(self, connector: str, worker_id: str, task: int | None = None) -> None:
        """Give an instance to a worker."""
        instance = scheduler_pb.Instance(connector=connector, task=task)
        self.assignments = [known for known in self.assignments if known.instance != instance]
        self.assignments.append(scheduler_pb.Assignment(instance=instance, worker_id=worker_id, generation=1))

    def on_next_list(self, then: Callable[[], None]) -> None:
        """Change something right after the next look at the assignments."""
        self._then = then

    async def DescribeKafkaCluster(
        self, request: scheduler_pb.DescribeKafkaClusterRequest, context: Any
    ) -> scheduler_pb.DescribeKafkaClusterResponse:
        if self.cluster_id is None:
            raise UnavailableError("no broker answers")
        return scheduler_pb.DescribeKafkaClusterResponse(cluster_id=self.cluster_id)

    async def ListWorkers(
        self, request: scheduler_pb.ListWorkersRequest, context: Any
    ) -> scheduler_pb.ListWorkersResponse:
        self.asked.set()
        if self.away:
            raise UnavailableError("no scheduler leads")
        return scheduler_pb.ListWorkersResponse(workers=self.workers.values())

    async def ListAssignments(
        self, request: scheduler_pb.ListAssignmentsRequest, context: Any
    ) -> scheduler_pb.ListAssignmentsResponse:
        reply = scheduler_pb.ListAssignmentsResponse(assignments=self.assignments)
        then, self._then = self._then, None
        if then is not None:
            then()
        return reply


class World:
    """The fakes, and where they are."""

    def __init__(self, stack: AsyncExitStack, secret: str = "") -> None:
        """`secret`: the cluster's, where it has one."""
        self._stack, self.secret = stack, secret
        self.config, self.status, self.offset = FakeConfig(), FakeStatus(), FakeOffset()
        self.scheduler, self.history = FakeScheduler(), FakeHistory()
        self.metrics = FakeMetrics()
        self.services = RpcServer(LOOPBACK, secret=secret)
        self.address = ""
        self.rest = httpx2.AsyncClient(verify=False)
        self._executor_servers: dict[str, RpcServer] = {}

    async def start(self) -> None:
        """Serve all but the executors from one port."""
        self.services.add(add_ConfigServiceServicer_to_server, self.config, "copycat.config.v1.ConfigService")
        self.services.add(add_StatusServiceServicer_to_server, self.status, "copycat.status.v1.StatusService")
        self.services.add(add_OffsetServiceServicer_to_server, self.offset, "copycat.offset.v1.OffsetService")
        self.services.add(
            add_SchedulerServiceServicer_to_server, self.scheduler, "copycat.scheduler.v1.SchedulerService"
        )
        self.services.add(
            add_HistoryServiceServicer_to_server, self.history, "copycat.history.v1.HistoryService"
        )
        self.services.add(add_MetricsServiceServicer_to_server, self.metrics, METRICS_SERVICE_NAME)
        self.address = await self.services.start()
        self._stack.push_async_callback(self.services.stop, 0)
        await self.services.set_serving(True)

    @property
    def settings(self) -> dict[str, str]:
        """Where the fakes are, as a gateway's settings say."""
        addresses = {
            f"{role}.addresses": self.address for role in ("config", "offset", "status", "scheduler")
        }
        return {**addresses, **({"cluster.secret": self.secret} if self.secret else {})}

    async def add_worker(self) -> tuple[str, FakeExecutor]:
        """Start an executor that the scheduler lists."""
        executor, server = FakeExecutor(), RpcServer(LOOPBACK, secret=self.secret)
        server.add(add_ExecutorServiceServicer_to_server, executor, "copycat.executor.v1.ExecutorService")
        worker_id = await server.start()
        self._stack.push_async_callback(server.stop, 0)
        self._executor_servers[worker_id] = server
        self.scheduler.workers[worker_id] = scheduler_pb.Worker(worker_id=worker_id)
        return worker_id, executor

    async def kill_worker(self, worker_id: str) -> None:
        """End an executor while its lease still holds."""
        await self._executor_servers.pop(worker_id).stop(0)

    async def open_gateway(self, **properties: str) -> None:
        """Serve REST; `rest` then talks to it. Underscores in names stand for dots."""
        settings = {
            "listeners": "http://127.0.0.1:0",
            **self.settings,
            **{name.replace("_", "."): value for name, value in properties.items()},
        }
        bound = await self._stack.enter_async_context(running(settings))
        self.rest = httpx2.AsyncClient(base_url=f"http://{bound}", timeout=30, verify=False)
        self._stack.push_async_callback(self.rest.aclose)


@asynccontextmanager
async def running(settings: dict[str, str]) -> AsyncIterator[str]:
    """Run the gateway for a while; gives its `host:port`."""
    stop, ready = asyncio.Event(), asyncio.get_running_loop().create_future()
    task = asyncio.create_task(serve(settings, stop, ready.set_result))
    await asyncio.wait((task, ready), return_when=asyncio.FIRST_COMPLETED)
    if task.done():
        await task
    try:
        yield ready.result()
    finally:
        stop.set()
        await task


@asynccontextmanager
async def world(secret: str = "", **properties: str) -> AsyncIterator[World]:
    """Make a world with a gateway and no worker."""
    async with AsyncExitStack() as stack:
        made = World(stack, secret)
        await made.start()
        await made.open_gateway(**properties)
        yield made


BASIC_AUTH = "org.apache.kafka.connect.rest.basic.auth.extension.BasicAuthSecurityRestExtension"
SECRET = "a-secret-of-sixteen-and-more"
CONFIG = {"connector.class": "FileStreamSource", "topic": "lines"}


@asynccontextmanager
async def guarded(
    issuer: Issuer | None, *, rules: Path | None = None, users: Path | None = None, **properties: str
) -> AsyncIterator[World]:
    """Serve REST; `rest` of the world talks to it. Underscores in names stand for dots."""
    asked = {key.replace(".", "_"): value for key, value in (issuer.settings if issuer else {}).items()}
    if rules is not None:
        asked["access_rules_file"] = str(rules)
    if users is not None:
        asked |= {"rest_extension_classes": BASIC_AUTH, "rest_basic_auth_file": str(users)}
    async with AsyncExitStack() as stack:
        made = World(stack, SECRET)
        await made.start()
        await made.add_worker()
        await made.open_gateway(**asked, **properties)
        yield made
