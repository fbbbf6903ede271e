"""The services an executor talks to, played by real gRPC servers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import suppress
from typing import Any

from copycat.config.v1 import config_service_pb2 as config_pb
from copycat.config.v1.config_service_pb2_grpc import ConfigServiceServicer
from copycat.offset.v1 import offset_service_pb2 as offset_pb
from copycat.offset.v1.offset_service_pb2_grpc import OffsetServiceServicer
from copycat.scheduler.v1 import scheduler_service_pb2 as scheduler_pb
from copycat.scheduler.v1.scheduler_service_pb2_grpc import SchedulerServiceServicer
from copycat.status.v1 import status_service_pb2 as status_pb
from copycat.status.v1.status_service_pb2_grpc import StatusServiceServicer
from copycat.types.v1 import types_pb2
from copycat_connect.errors import CopycatError
from copycat_rpc.messages import config_from_proto, config_to_proto

Key = tuple[str, int | None]
STARTED = types_pb2.TARGET_STATE_STARTED


class Watch:
    """A snapshot, then changes, for any number of watchers."""

    def __init__(self) -> None:
        self._watchers: list[asyncio.Queue[Any]] = []
        self._position = 0

    async def stream(self, snapshot: Iterable[Any], complete: Any) -> AsyncIterator[Any]:
        queue: asyncio.Queue[Any] = asyncio.Queue()
        self._watchers.append(queue)
        for message in snapshot:
            yield message
        complete.revision.next[0] = self._position
        yield complete
        while (message := await queue.get()) is not None:
            yield message

    def send(self, message: Any) -> None:
        self._position += 1
        message.revision.next[0] = self._position
        for queue in self._watchers:
            queue.put_nowait(message)

    def cut(self) -> None:
        """End every stream, as a restarted service would."""
        for queue in self._watchers:
            queue.put_nowait(None)
        self._watchers.clear()


class FakeConfig(ConfigServiceServicer):
    """Holds connectors and stores what is published."""

    def __init__(self) -> None:
        self.connectors: dict[str, config_pb.Connector] = {}
        self.published: list[config_pb.PutTaskConfigsRequest] = []
        self.fenced: list[str] = []
        self.fencing: CopycatError | None = None
        self.watch = Watch()

    def put(
        self,
        name: str,
        config: dict[str, str],
        tasks: list[dict[str, str]] | None = None,
        target: types_pb2.TargetState.ValueType = STARTED,
    ) -> None:
        known = self.connectors.get(name)
        connector = config_pb.Connector(
            name=name,
            config=config_to_proto({"name": name, **config}),
            target_state=known.target_state if known else target,
            tasks=[config_to_proto(dict(task)) for task in tasks or []],
            task_generation=known.task_generation + (tasks is not None) if known else 0,
        )
        if tasks is None and known is not None:
            connector.tasks.extend(known.tasks)
            connector.tasks_outdated = True
        self._changed(connector)

    def target(self, name: str, target: types_pb2.TargetState.ValueType) -> None:
        connector = config_pb.Connector()
        connector.CopyFrom(self.connectors[name])
        connector.target_state = target
        if target == types_pb2.TARGET_STATE_STOPPED:
            del connector.tasks[:]
        self._changed(connector)

    def delete(self, name: str) -> None:
        del self.connectors[name]
        self.watch.send(config_pb.WatchConnectorsResponse(removed=name))

    def restart(self, name: str, *, include_tasks: bool, only_failed: bool) -> None:
        request = config_pb.RequestRestartRequest(
            connector=name, include_tasks=include_tasks, only_failed=only_failed
        )
        self.watch.send(config_pb.WatchConnectorsResponse(restart=request))

    def tasks(self, name: str) -> list[dict[str, str | None]]:
        return [config_from_proto(task) for task in self.connectors[name].tasks]

    async def PutTaskConfigs(self, request: Any, context: Any) -> Any:
        self.published.append(request)
        connector = config_pb.Connector()
        connector.CopyFrom(self.connectors[request.connector])
        changed = connector.tasks_outdated or list(connector.tasks) != list(request.tasks)
        del connector.tasks[:]
        connector.tasks.extend(request.tasks)
        connector.tasks_outdated = connector.inconsistent = False
        self._changed(connector)
        return config_pb.PutTaskConfigsResponse(changed=changed)

    async def FenceTasks(self, request: Any, context: Any) -> Any:
        self.fenced.append(request.connector)
        if self.fencing is not None:
            raise self.fencing
        generation = self.connectors[request.connector].task_generation
        return config_pb.FenceTasksResponse(task_generation=generation)

    async def WatchConnectors(self, request: Any, context: Any) -> AsyncIterator[Any]:
        snapshot = [config_pb.WatchConnectorsResponse(connector=each) for each in self.connectors.values()]
        complete = config_pb.WatchConnectorsResponse(snapshot_complete=True)
        after = request.HasField("after_revision")
        async for message in self.watch.stream([] if after else snapshot, complete):
            if not (after and message.snapshot_complete):
                yield message

    def _changed(self, connector: config_pb.Connector) -> None:
        self.connectors[connector.name] = connector
        self.watch.send(config_pb.WatchConnectorsResponse(connector=connector))


class FakeScheduler(SchedulerServiceServicer):
    """Assigns what a test says and remembers what the worker holds."""

    def __init__(self) -> None:
        self.assignments: dict[Key, scheduler_pb.Assignment] = {}
        self.newest: dict[Key, scheduler_pb.Assignment] = {}
        """Assignments that the watch has not sent yet."""
        self.held: dict[Key, int] = {}
        self.leaving = False
        self.beats = 0
        self.joins = 0
        self.hangs = False
        self.generation = 0
        self.watch = Watch()

    def assign(
        self, worker: str, connector: str, task: int | None = None, *, partitions: Iterable[int] = ()
    ) -> int:
        self.generation += 1
        assignment = scheduler_pb.Assignment(
            instance=scheduler_pb.Instance(connector=connector, task=task),
            worker_id=worker,
            generation=self.generation,
            partitions=[types_pb2.TopicPartition(topic="in", partition=each) for each in partitions],
        )
        self.assignments[(connector, task)] = assignment
        self.watch.send(scheduler_pb.WatchAssignmentsResponse(assignment=assignment))
        return self.generation

    def remove(self, connector: str, task: int | None = None) -> None:
        del self.assignments[(connector, task)]
        instance = scheduler_pb.Instance(connector=connector, task=task)
        self.watch.send(scheduler_pb.WatchAssignmentsResponse(removed=instance))

    async def GetAssignment(self, request: Any, context: Any) -> Any:
        instance = request.instance
        key = (instance.connector, instance.task if instance.HasField("task") else None)
        return scheduler_pb.GetAssignmentResponse(
            assignment=self.newest.get(key) or self.assignments.get(key)
        )

    async def Join(self, request_iterator: Any, context: Any) -> AsyncIterator[Any]:
        self.joins += 1
        async for beat in request_iterator:
            if self.hangs:
                await asyncio.Event().wait()
            self.beats += 1
            self.leaving = beat.leaving
            self.held = {
                (each.instance.connector, each.instance.task if each.instance.HasField("task") else None): (
                    each.generation
                )
                for each in beat.held
            }
            yield scheduler_pb.JoinResponse(lease_ms=5000)

    async def WatchAssignments(self, request: Any, context: Any) -> AsyncIterator[Any]:
        snapshot = [scheduler_pb.WatchAssignmentsResponse(assignment=a) for a in self.assignments.values()]
        complete = scheduler_pb.WatchAssignmentsResponse(snapshot_complete=True)
        after = request.HasField("after_revision")
        async for message in self.watch.stream([] if after else snapshot, complete):
            if not (after and message.snapshot_complete):
                yield message


class FakeStatus(StatusServiceServicer):
    """Keeps every reported status and topic; fails while `failing` is set."""

    def __init__(self) -> None:
        self.history: list[status_pb.InstanceStatus] = []
        self.topics: dict[Key, set[str]] = {}
        self.failing: CopycatError | None = None
        self.answering = asyncio.Event()
        """Cleared while reports of statuses are tried and not written yet."""
        self.answering.set()
        self.unanswered = 0
        """Reports that wait for that."""
        self.troubles: list[status_pb.Trouble] = []
        self.acts: list[tuple[str, str]] = []

    def states(self, connector: str, task: int | None = None) -> list[str]:
        """The states an instance went through."""
        found = [each.status.state for each in self._of(connector, task)]
        return [types_pb2.State.Name(state).removeprefix("STATE_") for state in found]

    def state(self, connector: str, task: int | None = None) -> str:
        return (
            [*self.states(connector, task), ""][-2]
            if not self._of(connector, task)
            else self.states(connector, task)[-1]
        )

    def trace(self, connector: str, task: int | None = None) -> str:
        return self._of(connector, task)[-1].status.trace

    def last(self, connector: str, task: int | None = None) -> status_pb.Status:
        return self._of(connector, task)[-1].status

    async def ReportStatuses(self, request: Any, context: Any) -> Any:
        self.unanswered += 1
        await self.answering.wait()
        self.unanswered -= 1
        if self.failing is not None:
            raise self.failing
        self.history.extend(request.statuses)
        return status_pb.ReportStatusesResponse()

    async def ReportTroubles(self, request: Any, context: Any) -> Any:
        self.troubles = list(request.troubles)
        return status_pb.ReportTroublesResponse()

    async def RecordAct(self, request: Any, context: Any) -> Any:
        self.acts.append((request.what, request.reason))
        return status_pb.RecordActResponse()

    async def ReportTopics(self, request: Any, context: Any) -> Any:
        if self.failing is not None:
            raise self.failing
        self.topics.setdefault((request.connector, request.task), set()).update(request.topics)
        return status_pb.ReportTopicsResponse()

    def _of(self, connector: str, task: int | None) -> list[status_pb.InstanceStatus]:
        return [
            each
            for each in self.history
            if each.connector == connector and (each.task if each.HasField("task") else None) == task
        ]


class FakeOffset(OffsetServiceServicer):
    """Keeps offsets in memory; fails while `failing` is set."""

    def __init__(self) -> None:
        self.source: dict[tuple[str, bytes], bytes] = {}
        self.sink: dict[str, dict[tuple[str, int], int]] = {}
        self.commits: list[Any] = []
        self.failing: CopycatError | None = None

    async def CommitSourceOffsets(self, request: Any, context: Any) -> Any:
        self._check()
        self.commits.append(request)
        for each in request.offsets:
            self.source[(request.connector, each.partition)] = each.offset
        return offset_pb.CommitSourceOffsetsResponse()

    async def CommitSinkOffsets(self, request: Any, context: Any) -> Any:
        self._check()
        self.commits.append(request)
        group = self.sink.setdefault(request.group_id, {})
        group.update({(each.topic, each.partition): each.offset for each in request.offsets})
        return offset_pb.CommitSinkOffsetsResponse()

    async def ReadSourceOffsets(self, request: Any, context: Any) -> Any:
        self._check()
        found = []
        for partition in request.partitions:
            offset = types_pb2.SourceOffset(partition=partition)
            with suppress(KeyError):
                offset.offset = self.source[(request.connector, partition)]
            found.append(offset)
        return offset_pb.ReadSourceOffsetsResponse(offsets=found)

    async def ListSinkOffsets(self, request: Any, context: Any) -> Any:
        self._check()
        group = self.sink.get(request.group_id, {})
        return offset_pb.ListSinkOffsetsResponse(
            offsets=[
                types_pb2.TopicPartitionOffset(topic=topic, partition=partition, offset=offset)
                for (topic, partition), offset in group.items()
            ]
        )

    def _check(self) -> None:
        if self.failing is not None:
            raise self.failing
