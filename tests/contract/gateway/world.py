"""Every service the gateway talks to, real gRPC servers on loopback, and the gateway itself."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import httpx2
from copycat.config.v1.config_service_pb2_grpc import add_ConfigServiceServicer_to_server
from copycat.executor.v1.executor_service_pb2_grpc import add_ExecutorServiceServicer_to_server
from copycat.history.v1.history_service_pb2_grpc import add_HistoryServiceServicer_to_server
from copycat.metrics.v1.metrics_service_pb2_grpc import add_MetricsServiceServicer_to_server
from copycat.offset.v1.offset_service_pb2_grpc import add_OffsetServiceServicer_to_server
from copycat.scheduler.v1 import scheduler_service_pb2 as scheduler_pb2
from copycat.scheduler.v1.scheduler_service_pb2_grpc import add_SchedulerServiceServicer_to_server
from copycat.status.v1.status_service_pb2_grpc import add_StatusServiceServicer_to_server
from copycat_gateway.main import serve
from copycat_rpc.metrics import METRICS_SERVICE_NAME
from copycat_rpc.server import RpcServer

from tests.contract.gateway.fake_config import FakeConfig
from tests.contract.gateway.fake_executor import FakeExecutor
from tests.contract.gateway.fake_history import FakeHistory
from tests.contract.gateway.fake_metrics import FakeMetrics
from tests.contract.gateway.fake_offset import FakeOffset
from tests.contract.gateway.fake_scheduler import FakeScheduler
from tests.contract.gateway.fake_status import FakeStatus

LOOPBACK = "127.0.0.1:0"


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
        self.scheduler.workers[worker_id] = scheduler_pb2.Worker(worker_id=worker_id)
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
