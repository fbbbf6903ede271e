"""An executor without Spark: real gRPC on all sides, hosts and services played by the test."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import grpc
import psutil
import pytest
from copycat.config.v1.config_service_pb2_grpc import add_ConfigServiceServicer_to_server
from copycat.executor.v1 import executor_service_pb2 as pb
from copycat.executor.v1 import executor_service_pb2_grpc
from copycat.host.v1 import host_service_pb2_grpc
from copycat.offset.v1.offset_service_pb2_grpc import add_OffsetServiceServicer_to_server
from copycat.scheduler.v1.scheduler_service_pb2_grpc import add_SchedulerServiceServicer_to_server
from copycat.status.v1.status_service_pb2_grpc import add_StatusServiceServicer_to_server
from copycat_executor.background import BackgroundJobs
from copycat_executor.children.connector_processes import ConnectorProcesses
from copycat_executor.children.query_engine import Queries
from copycat_executor.children.template import MODULE, Template
from copycat_executor.domain.placement import ResidencyRules
from copycat_executor.tasks.task_actions import Budgets
from copycat_executor.wiring import ExecutorSurroundings, Limits, wire
from copycat_executor.worker.executor import Executor
from copycat_executor.worker.membership import ReachOf
from copycat_rpc.channel import open_channel
from copycat_rpc.messages import config_to_proto
from copycat_rpc.reach import reach
from copycat_rpc.server import RpcServer
from copycat_rpc.services import Addresses, connected
from copycat_telemetry.metrics.sampled import Windows
from copycat_testkit.processes import command_line

from tests.contract.executor.fake_hosts import FakeLauncher
from tests.contract.executor.fake_services import FakeConfig, FakeOffset, FakeScheduler, FakeStatus

AUTHOR = Path(__file__).with_name("author")
SOURCE = {"connector.class": "ProbeSource", "tasks.max": "4"}
SINK = {"connector.class": "ProbeSink", "tasks.max": "4", "topics": "in"}
DEADLINE = 60.0


class World:
    """Everything a test touches."""

    def __init__(self) -> None:
        self.config = FakeConfig()
        self.scheduler = FakeScheduler()
        self.status = FakeStatus()
        self.offset = FakeOffset()
        self.launcher = FakeLauncher()
        self.drivers = FakeLauncher()
        self.jobs = BackgroundJobs()
        self.executor: Executor
        self.worker = ""
        self.queries: Queries
        self.gateway: executor_service_pb2_grpc.ExecutorServiceAsyncStub

    async def until(self, holds: Callable[[], bool], what: str = "") -> None:
        """Wait for a condition; everything here happens in this loop, so polling it is enough."""
        deadline = time.monotonic() + DEADLINE
        while not holds():
            assert time.monotonic() < deadline, f"never happened: {what}"
            await asyncio.sleep(0.005)

    async def status_is(self, state: str, connector: str, task: int | None = None) -> None:
        def holds() -> bool:
            return self.status.states(connector, task)[-1:] == [state]

        await self.until(holds, f"{connector} {task} {state}")

    async def run_task(self, connector: str = "orders", config: dict[str, str] | None = None) -> int:
        """Have one task of a connector run here, without the connector itself; returns its generation."""
        self.config.put(connector, config or SOURCE, [{"index": "0"}])
        generation = self.scheduler.assign(self.worker, connector, 0)
        await self.status_is("RUNNING", connector, 0)
        return generation


class LoadedProcesses(ConnectorProcesses):
    """Processes of connectors, copied from a template that runs already and goes on to."""

    def __init__(self, template: Template, jobs: BackgroundJobs) -> None:
        super().__init__({}, jobs)
        self._template = template

    async def run(self) -> None:
        await asyncio.Event().wait()


@asynccontextmanager
async def loaded_template() -> AsyncIterator[Template]:
    """Run a process that has loaded the plugins, for the worlds of several tests: it costs most of one."""
    template = Template({})
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(AUTHOR))
        running = asyncio.create_task(template.run())
        await asyncio.wait_for(template.loaded(), DEADLINE)
    try:
        yield template
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


CLUSTER_SECRET = "the secret of this cluster"
HOST_TOKEN = "what hosts are told"


@asynccontextmanager
async def world(
    *,
    slots: int = 4,
    spares: int = 0,
    drivers: int = 2,
    plugin_call: float = 10.0,
    drain: float = 2.0,
    max_tasks: int = 1000,
    attaches: bool = True,
    connectors: bool = True,
    properties: dict[str, str] | None = None,
    reach: ReachOf = reach,
    packages: Path = AUTHOR,
    template: Template | None = None,
) -> AsyncIterator[World]:
    """Run an executor with its peers; without `connectors` it has no process for their code.

    `reach` says whether somebody listens at an address; `packages` is a further folder of installed packages.
    Connectors run in copies of `template`, which knows neither properties nor packages of this world.
    """
    it = World()
    it.launcher.attaches = attaches
    path = os.environ.get("PYTHONPATH")
    # For the process of the connectors, which finds its plugins there.
    os.environ["PYTHONPATH"] = os.pathsep.join((str(AUTHOR), str(packages)))
    peers = RpcServer("127.0.0.1:0", secret=CLUSTER_SECRET)
    peers.add(add_ConfigServiceServicer_to_server, it.config, "copycat.config.v1.ConfigService")
    peers.add(add_SchedulerServiceServicer_to_server, it.scheduler, "copycat.scheduler.v1.SchedulerService")
    peers.add(add_StatusServiceServicer_to_server, it.status, "copycat.status.v1.StatusService")
    peers.add(add_OffsetServiceServicer_to_server, it.offset, "copycat.offset.v1.OffsetService")
    address = await peers.start()
    processes = (
        ConnectorProcesses(properties or {}, it.jobs)
        if template is None
        else LoadedProcesses(template, it.jobs)
    )
    it.queries = Queries(properties or {}, it.jobs, module="copycat_fake_engine")
    if connectors:
        it.jobs.spawn(processes.run(), "process of the connectors")
    server = RpcServer("127.0.0.1:0", secret=CLUSTER_SECRET)
    it.worker = server.bind()
    limits = Limits(
        residency=ResidencyRules(slots=slots, lifetime=1000.0, linger=1000.0, spares=spares),
        drivers=ResidencyRules(slots=drivers, lifetime=1000.0, linger=0.2, spares=0),
        budgets=Budgets(drain=drain, commit=1.0),
        plugin_call=plugin_call,
        max_tasks=max_tasks,
        topic_tracking=True,
        log_level="WARNING",
        windows=Windows(),
    )
    channel = open_channel([it.worker], secret=CLUSTER_SECRET)
    try:
        async with connected(Addresses(*([address],) * 4), secret=CLUSTER_SECRET) as services, channel:
            it.gateway = executor_service_pb2_grpc.ExecutorServiceStub(channel)
            it.executor = wire(
                it.worker,
                properties or {},
                limits,
                ExecutorSurroundings(
                    server, services, it.launcher, processes, it.queries, it.jobs, it.drivers, reach
                ),
                host_token=HOST_TOKEN,
            )
            await server.start()
            it.executor.run()
            if connectors:  # so that short deadlines mean author code only
                await asyncio.wait_for(processes.loaded(), 60.0)
            yield it
            crashed = asyncio.create_task(it.jobs.crashed())
            done, _ = await asyncio.wait((crashed,), timeout=0)
            crashed.cancel()
            assert not done, f"a part crashed: {crashed.result()!r}"
    finally:
        os.environ["PYTHONPATH"] = path or ""
        await it.jobs.close()
        await it.launcher.close()
        await it.drivers.close()
        await server.stop(0)
        await peers.stop(0)


async def validate(
    it: World, config: dict[str, str], *, name: str = "orders", timeout: float = DEADLINE
) -> pb.ValidateConnectorResponse:
    """Ask as a gateway does whether a configuration is good."""
    request = pb.ValidateConnectorRequest(config=config_to_proto({"name": name, **config}))
    answer: pb.ValidateConnectorResponse = await it.gateway.ValidateConnector(request, timeout=timeout)
    return answer


def template_process() -> psutil.Process:
    """The process that has loaded the plugins of the world that was made last."""
    children = psutil.Process().children()
    found = [each for each in children if MODULE in command_line(each)]
    return max(found, key=lambda each: each.create_time())


def processes() -> list[psutil.Process]:
    """The processes of connectors, the oldest first."""
    children = psutil.Process().children(recursive=True)
    found = [each for each in children if command_line(each)[:1] == ["copycat_executor.connectors"]]
    return sorted(found, key=lambda each: each.create_time())


def raw_host_stub(address: str) -> tuple[grpc.aio.Channel, host_service_pb2_grpc.HostServiceAsyncStub]:
    """A host's end of the wire."""
    channel = grpc.aio.insecure_channel(address)
    return channel, host_service_pb2_grpc.HostServiceStub(channel)
