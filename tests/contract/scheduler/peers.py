"""The scheduler's peers, played by real gRPC servers."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from copycat.config.v1 import config_service_pb2 as config_pb
from copycat.config.v1.config_service_pb2_grpc import ConfigServiceServicer
from copycat.status.v1 import status_service_pb2 as status_pb
from copycat.status.v1.status_service_pb2_grpc import StatusServiceServicer
from copycat.types.v1 import types_pb2
from copycat_rpc.messages import config_to_proto

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
