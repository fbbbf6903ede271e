"""The scheduler on a memory log, with workers over loopback gRPC; real gRPC servers play its peers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from copycat.config.v1 import config_service_pb2 as config_pb
from copycat.config.v1.config_service_pb2_grpc import (
    ConfigServiceServicer,
    add_ConfigServiceServicer_to_server,
)
from copycat.scheduler.v1 import scheduler_service_pb2 as pb
from copycat.scheduler.v1.scheduler_service_pb2_grpc import SchedulerServiceStub
from copycat.status.v1 import status_service_pb2 as status_pb
from copycat.status.v1.status_service_pb2_grpc import (
    StatusServiceServicer,
    add_StatusServiceServicer_to_server,
)
from copycat.types.v1 import types_pb2
from copycat_connect.config.placeholders import Placeholders
from copycat_connect.errors import NotWriterError
from copycat_eventlog.log import Log
from copycat_eventlog.memory import MemoryLog, MemoryTopic
from copycat_rpc.channel import open_channel
from copycat_rpc.errors import RemoteError
from copycat_rpc.messages import config_to_proto
from copycat_rpc.server import RpcServer
from copycat_scheduler.adapters.event_sourced import event_sourced
from copycat_scheduler.adapters.rebalances import Rebalances
from copycat_scheduler.adapters.wiring import Neighbours, Times, wire
from copycat_serving.beside import beside
from copycat_telemetry.metrics.sampled import Windows

Key = tuple[str, int | None]


class Feed:
    """A watch: a snapshot, then changes, for any number of watchers."""

    def __init__(self) -> None:
        self._watchers: list[asyncio.Queue[Any]] = []
        self._position = 0

    async def stream(self, snapshot: list[Any], complete: Any) -> AsyncIterator[Any]:
        queue: asyncio.Queue[Any] = asyncio.Queue()
        self._watchers.append(queue)
        for message in snapshot:
            yield message
        complete.revision.next[0] = self._position
        yield complete
        while True:
            yield await queue.get()

    def send(self, message: Any) -> None:
        self._position += 1
        message.revision.next[0] = self._position
        for queue in self._watchers:
            queue.put_nowait(message)


class FakeConfig(ConfigServiceServicer):
    """Holds the connectors a test configures."""

    def __init__(self) -> None:
        self._connectors: dict[str, config_pb.Connector] = {}
        self._feed = Feed()

    def put(self, name: str, tasks: int = 0, *, sink: bool = True, **config: str) -> None:
        """Configure a connector; tasks of a sink say what they read, as executors see to."""
        given = {key.replace("_", "."): value for key, value in config.items()}
        of_tasks: dict[str, str] = {
            key: given[key] for key in ("topics", "topics.regex") if key in given and sink
        }
        connector = config_pb.Connector(
            name=name,
            config=config_to_proto(given),
            target_state=types_pb2.TARGET_STATE_STARTED,
            tasks=[config_to_proto(of_tasks) for _ in range(tasks)],
        )
        self._connectors[name] = connector
        self._feed.send(config_pb.WatchConnectorsResponse(connector=connector))

    def delete(self, name: str) -> None:
        del self._connectors[name]
        self._feed.send(config_pb.WatchConnectorsResponse(removed=name))

    async def WatchConnectors(self, request: Any, context: Any) -> AsyncIterator[Any]:
        snapshot = [config_pb.WatchConnectorsResponse(connector=each) for each in self._connectors.values()]
        complete = config_pb.WatchConnectorsResponse(snapshot_complete=True)
        async for message in self._feed.stream(snapshot, complete):
            yield message


class FakeStatus(StatusServiceServicer):
    """Keeps the newest status of each instance, and what it was asked to forget."""

    def __init__(self) -> None:
        self.statuses: dict[Key, status_pb.Status] = {}
        self.forgotten: list[tuple[str, tuple[int, ...]]] = []
        self._feed = Feed()

    def put(
        self, connector: str, task: int | None, worker_id: str, generation: int, state: str = "RUNNING"
    ) -> None:
        status = status_pb.Status(
            state=types_pb2.State.Value(f"STATE_{state}"), worker_id=worker_id, generation=generation
        )
        self._put(status_pb.InstanceStatus(connector=connector, task=task, status=status))

    def said(self, connector: str, task: int | None) -> tuple[str, str, int] | None:
        """Return state, worker and generation."""
        status = self.statuses.get((connector, task))
        if status is None:
            return None
        state = types_pb2.State.Name(status.state).removeprefix("STATE_")
        return state, status.worker_id, status.generation

    async def ReportStatuses(self, request: Any, context: Any) -> Any:
        for each in request.statuses:
            self._put(each)
        return status_pb.ReportStatusesResponse()

    async def ForgetStatuses(self, request: Any, context: Any) -> Any:
        self.forgotten.append((request.connector, tuple(request.tasks)))
        for connector, task in tuple(self.statuses):
            if connector == request.connector and (not request.tasks or task in request.tasks):
                del self.statuses[(connector, task)]
                removed = status_pb.InstanceStatus(connector=connector, task=task)
                self._feed.send(status_pb.WatchStatusesResponse(removed=removed))
        return status_pb.ForgetStatusesResponse()

    async def WatchStatuses(self, request: Any, context: Any) -> AsyncIterator[Any]:
        snapshot = [
            status_pb.WatchStatusesResponse(
                status=status_pb.InstanceStatus(connector=connector, task=task, status=status)
            )
            for (connector, task), status in self.statuses.items()
        ]
        complete = status_pb.WatchStatusesResponse(snapshot_complete=True)
        async for message in self._feed.stream(snapshot, complete):
            yield message

    def _put(self, each: status_pb.InstanceStatus) -> None:
        self.statuses[(each.connector, each.task if each.HasField("task") else None)] = each.status
        self._feed.send(status_pb.WatchStatusesResponse(status=each))


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
