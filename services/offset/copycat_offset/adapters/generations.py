"""The newest generation of every task, as far as is known from the scheduler's watch (I2)."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Sequence

import grpc
from copycat.scheduler.v1.scheduler_service_pb2 import (
    Assignment,
    WatchAssignmentsRequest,
    WatchAssignmentsResponse,
)
from copycat.scheduler.v1.scheduler_service_pb2_grpc import SchedulerServiceStub
from copycat_connect.cluster import Instance
from copycat_rpc.following import follow
from copycat_rpc.messages import instance_from_proto

#: How long the first commits after start wait for the scheduler. Then they are judged by what is known: the
#: data plane goes on while the scheduler is away, because nothing is assigned anew without it.
FIRST_NEWS_TIMEOUT_SECONDS = 5.0
#: How far the scheduler's watch may be behind what the scheduler has sent to others.
REMOVAL_TIMEOUT_SECONDS = 3.0
MAX_REMOVED_TASKS = 10_000


class Generations:
    """What the scheduler said last; read by every commit."""

    def __init__(self, patience: float = FIRST_NEWS_TIMEOUT_SECONDS) -> None:
        """`patience` is the seconds that the first commits wait for the scheduler."""
        self._patience = patience
        self._synced = asyncio.Event()
        self._assigned: dict[Instance, int] = {}
        # An assignment that was taken away still bars older ones, while its own worker drains and commits.
        self._removed: OrderedDict[Instance, int] = OrderedDict()
        # Newer than the scheduler's watch has said yet.
        self._heard: dict[Instance, int] = {}
        self._changed = asyncio.Event()

    async def newest(self, connector: str, task: int) -> int | None:
        """Return the newest generation of a task; waits a bounded time for the very first news."""
        if self._patience > 0 and not self._synced.is_set():
            try:
                await asyncio.wait_for(self._synced.wait(), self._patience)
            except TimeoutError:
                self._patience = 0.0
        key = Instance(connector, task)
        known = self._assigned.get(key, self._removed.get(key))
        heard = self._heard.get(key)
        return known if heard is None else max(heard, known or 0)

    async def without_tasks(self, connector: str) -> bool:
        """Return whether no task of a connector is assigned, waiting a little for news that it is not."""
        try:
            async with asyncio.timeout(REMOVAL_TIMEOUT_SECONDS):
                while any(task.connector == connector for task in self._assigned):
                    await self._changed.wait()
        except TimeoutError:
            return False
        return True

    def heard(self, connector: str, task: int, generation: int) -> None:
        """Note a task of this generation: older ones are refused before the scheduler reports it."""
        key = Instance(connector, task)
        if generation > self._assigned.get(key, 0):
            self._heard[key] = generation

    async def follow(self, channel: grpc.aio.Channel) -> None:
        """Follow the scheduler until cancelled."""
        stub = SchedulerServiceStub(channel)
        await follow(
            lambda after: stub.WatchAssignments(WatchAssignmentsRequest(after_revision=after)),
            snapshot=self.replace,
            change=self.apply,
        )

    def replace(self, messages: Sequence[WatchAssignmentsResponse]) -> None:
        """Replace all that is known by a snapshot; what is not in it was removed."""
        for key in tuple(self._assigned):
            self._remove(key)
        for message in messages:
            self.apply(message)
        self._synced.set()
        self._wake()

    def apply(self, message: WatchAssignmentsResponse) -> None:
        """Apply one change; connectors themselves commit nothing."""
        match message.WhichOneof("change"):
            case "assignment" if message.assignment.instance.HasField("task"):
                self._assign(message.assignment)
            case "removed" if message.removed.HasField("task"):
                self._remove(instance_from_proto(message.removed))
                self._wake()
            case _:
                pass

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    def _assign(self, assignment: Assignment) -> None:
        key = instance_from_proto(assignment.instance)
        self._removed.pop(key, None)
        if self._heard.get(key, 0) <= assignment.generation:
            self._heard.pop(key, None)
        self._assigned[key] = assignment.generation

    def _remove(self, key: Instance) -> None:
        self._heard.pop(key, None)
        generation = self._assigned.pop(key, None)
        if generation is not None:
            self._removed[key] = generation
            if len(self._removed) > MAX_REMOVED_TASKS:
                self._removed.popitem(last=False)
