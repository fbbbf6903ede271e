"""The scheduler on a memory log, with its peers and workers over loopback gRPC."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from copycat.config.v1.config_service_pb2_grpc import add_ConfigServiceServicer_to_server
from copycat.scheduler.v1 import scheduler_service_pb2 as pb
from copycat.scheduler.v1.scheduler_service_pb2_grpc import SchedulerServiceStub
from copycat.status.v1.status_service_pb2_grpc import add_StatusServiceServicer_to_server
from copycat_connect.config.placeholders import Placeholders
from copycat_connect.errors import NotWriterError
from copycat_eventlog.log import Log
from copycat_eventlog.memory import MemoryLog, MemoryTopic
from copycat_rpc.channel import open_channel
from copycat_rpc.errors import RemoteError
from copycat_rpc.server import RpcServer
from copycat_scheduler.adapters.event_sourced import event_sourced
from copycat_scheduler.adapters.rebalances import Rebalances
from copycat_scheduler.adapters.wiring import Neighbours, Times, wire
from copycat_serving.beside import beside
from copycat_telemetry.metrics.sampled import Windows

from tests.contract.scheduler.peers import FakeConfig, FakeStatus

T = TypeVar("T")


class FakeWorker:
    """Beats over a real stream; holds what it is assigned."""

    def __init__(self, worker_id: str, stub: Any) -> None:
        self.worker_id = worker_id
        self.held: dict[tuple[str, int | None], int] = {}
        self._stub = stub
        self._beats: asyncio.Queue[pb.JoinRequest | None] = asyncio.Queue()
        self._answers: AsyncIterator[pb.JoinResponse] | None = None

    async def beat(self, leaving: bool = False) -> pb.JoinResponse:
        """Send one beat and wait for its answer."""
        held = [
            pb.Held(instance=pb.Instance(connector=connector, task=task), generation=generation)
            for (connector, task), generation in self.held.items()
        ]
        self._beats.put_nowait(pb.JoinRequest(worker_id=self.worker_id, held=held, leaving=leaving))
        if self._answers is None:
            self._answers = aiter(self._stub.Join(self._requests()))
        async with asyncio.timeout(60):
            return await anext(self._answers)

    async def hold(self, assigned: Mapping[tuple[str, int | None], pb.Assignment]) -> None:
        """Hold exactly what is assigned to this worker, and say so."""
        self.held = {key: a.generation for key, a in assigned.items() if a.worker_id == self.worker_id}
        await self.beat()

    def hang_up(self) -> None:
        """End the stream; the next beat opens another."""
        self._beats.put_nowait(None)
        self._answers = None
        self._beats = asyncio.Queue()

    async def _requests(self) -> AsyncIterator[pb.JoinRequest]:
        beats = self._beats
        while (beat := await beats.get()) is not None:
            yield beat


@dataclass
class Cluster:
    """All there is around one scheduler."""

    config: FakeConfig = field(default_factory=FakeConfig)
    status: FakeStatus = field(default_factory=FakeStatus)
    topics: dict[str, int] = field(default_factory=dict)
    properties: dict[str, str] = field(default_factory=dict)
    log: MemoryTopic = field(default_factory=MemoryTopic)
    open_log: Callable[[MemoryTopic], Log] = MemoryLog
    stub: Any = None

    def worker(self, worker_id: str) -> FakeWorker:
        return FakeWorker(worker_id, self.stub)

    async def join(self, worker_id: str, timeout: float = 30.0) -> FakeWorker:
        """Let a worker join as soon as the scheduler leads."""
        deadline = time.monotonic() + timeout
        while True:
            worker = self.worker(worker_id)
            try:
                await worker.beat()
            except RemoteError as error:
                worker.hang_up()
                if error.remote_code != NotWriterError.code or time.monotonic() > deadline:
                    raise
                await asyncio.sleep(0.02)
            else:
                return worker

    async def assigned(self) -> dict[tuple[str, int | None], pb.Assignment]:
        answer = await self.stub.ListAssignments(pb.ListAssignmentsRequest())
        return {
            (each.instance.connector, each.instance.task if each.instance.HasField("task") else None): each
            for each in answer.assignments
        }

    async def until_assigned(self, **places: int) -> dict[tuple[str, int | None], pb.Assignment]:
        """Wait until exactly so many instances are assigned to each worker."""

        def fits(assigned: Mapping[Any, pb.Assignment]) -> bool:
            count = dict.fromkeys((each.worker_id for each in assigned.values()), 0)
            for each in assigned.values():
                count[each.worker_id] += 1
            return count == places

        found: dict[tuple[str, int | None], pb.Assignment] = await self.eventually(
            self.assigned, fits, f"assignments {places}"
        )
        return found

    async def eventually(
        self, read: Callable[[], Any], fits: Callable[[Any], Any], what: str, timeout: float = 10.0
    ) -> Any:
        deadline = time.monotonic() + timeout
        while True:
            found = read()
            found = await found if asyncio.iscoroutine(found) else found
            if fits(found):
                return found
            assert time.monotonic() < deadline, f"{what}: still {found}"
            await asyncio.sleep(0.005)

    async def read_topics(self) -> Mapping[str, int]:
        return dict(self.topics)

    def _no_other_cluster(self, client: Mapping[str, str]) -> Any:
        raise AssertionError(client)

    async def read_cluster_id(self) -> str:
        return "cluster-1"

    @asynccontextmanager
    async def peers(self) -> AsyncIterator[tuple[str, str]]:
        """Run the config and the status service."""
        config, status = RpcServer("127.0.0.1:0"), RpcServer("127.0.0.1:0")
        config.add(add_ConfigServiceServicer_to_server, self.config, "copycat.config.v1.ConfigService")
        status.add(add_StatusServiceServicer_to_server, self.status, "copycat.status.v1.StatusService")
        addresses = await config.start(), await status.start()
        try:
            yield addresses
        finally:
            await config.stop(0)
            await status.stop(0)

    @asynccontextmanager
    async def scheduler(
        self, peers: tuple[str, str], lease: float = 5.0, delay: float = 0.0
    ) -> AsyncIterator[None]:
        """Run one instance of the scheduler."""
        events = event_sourced(self.open_log(self.log))
        server = RpcServer("127.0.0.1:0")
        async with AsyncExitStack() as stack:
            config = await stack.enter_async_context(open_channel([peers[0]]))
            status = await stack.enter_async_context(open_channel([peers[1]]))
            placeholders = Placeholders.from_worker(self.properties, {})
            neighbours = Neighbours(
                config, status, self.read_topics, self._no_other_cluster, self.read_cluster_id
            )
            loops = wire(
                server,
                events,
                neighbours,
                times=Times(int(lease * 1000), int(delay * 1000), refresh_ms=50),
                rebalances=Rebalances(Windows(), asyncio.get_running_loop().time),
                placeholders=placeholders,
                properties=self.properties,
                stop=asyncio.Event(),
            )
            address = await server.start()
            await events.start()
            stack.push_async_callback(events.stop)
            stack.push_async_callback(server.stop, 0)
            await stack.enter_async_context(beside(*loops))
            calls = await stack.enter_async_context(open_channel([address]))
            self.stub = SchedulerServiceStub(calls)
            yield


@asynccontextmanager
async def running(lease: float = 5.0, delay: float = 0.0, **connectors: int) -> AsyncIterator[Cluster]:
    """Run a scheduler with its peers; connectors by name with their numbers of tasks."""
    cluster = Cluster()
    for name, tasks in connectors.items():
        cluster.config.put(name, tasks)
    async with cluster.peers() as peers, cluster.scheduler(peers, lease, delay):
        yield cluster
