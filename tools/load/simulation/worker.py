"""A worker without tasks: it joins, follows and reports as an executor does, and starts nothing.

What it folds and decides with is the executor's own code; what a start takes is `START_SECONDS`, as the load
curve of real workers shows it.
"""

from __future__ import annotations

import asyncio
import signal
import sys
import time
from collections import deque
from collections.abc import Sequence
from typing import Final

import grpc
from copycat.config.v1 import config_service_pb2 as config_pb
from copycat.executor.v1 import executor_service_pb2 as executor_pb
from copycat.status.v1 import status_service_pb2 as status_pb
from copycat.types.v1 import types_pb2
from copycat_connect.cluster import Config, Instance
from copycat_connect.errors import CopycatError
from copycat_executor.background import ChangeSignal
from copycat_executor.domain.desired import WantedConnector, WantedTask
from copycat_executor.domain.reconcile import (
    Action,
    ConnectorToStart,
    ConnectorToStop,
    PublishTasks,
    StartTask,
    StopTask,
)
from copycat_executor.domain.running import Phase, RunningConnector, RunningTask
from copycat_executor.metrics.worker_meter import WorkerMeter
from copycat_executor.state.differences import Differences
from copycat_executor.state.feed import AssignmentChange, Feed
from copycat_executor.state.lease import WorkerLease
from copycat_executor.state.runs import Runs
from copycat_executor.worker.conductor import CHANGE_GATHERING_SECONDS
from copycat_executor.worker.membership import Membership
from copycat_executor.worker.watches import follow_assignments
from copycat_rpc.following import follow
from copycat_rpc.messages import config_to_proto
from copycat_rpc.reach import reach
from copycat_rpc.server import RpcServer
from copycat_rpc.services import Addresses, ServiceStubs, connected
from copycat_telemetry.metrics.sampled import Windows

#: What a start takes, eight of which go on at a time.
START_SECONDS: Final = 0.1
STARTS_AT_A_TIME: Final = 8
STATUSES_PER_CALL: Final = 1000
PUBLISHED_AT_A_TIME: Final = 8
RETRY_SECONDS: Final = 0.1
TASKS: Final = 2
#: What a worker says when it takes a snapshot of all assignments.
SNAPSHOT: Final = "snapshot of the assignments"
EXECUTOR_SERVICE: Final = "copycat.executor.v1.ExecutorService"
CONNECTOR_CLASS: Final = "copycat_plugins.connectors.datagen_source.connector.DatagenSourceConnector"


def task_configs(connector: Config) -> Sequence[Config]:
    """Return the configurations that a simulated connector gives its tasks."""
    return [{**connector, "task.number": str(number)} for number in range(TASKS)]


class TellingFeed(Feed):
    """Says each time it has to take all assignments, and not only what changed."""

    def assignments(self, snapshot: Sequence[AssignmentChange]) -> None:
        """Accept a snapshot."""
        print(SNAPSHOT, flush=True)
        super().assignments(snapshot)


class SimulatedWorker:
    """One worker; everything it holds runs at once, or after its turn to start."""

    def __init__(self, worker_id: str, services: ServiceStubs) -> None:
        self._worker_id = worker_id
        self._services = services
        self._changes = ChangeSignal()
        self._lease = WorkerLease(time.monotonic)
        self._runs = Runs(self._changes, WorkerMeter(Windows(), clock=time.monotonic, wall=time.time))
        self._feed = TellingFeed(worker_id, self._changes, self._lease)
        self._differences = Differences(self._feed, self._runs)
        self._starting: deque[WantedTask] = deque()
        self._publishing: asyncio.Queue[str] = asyncio.Queue()
        self._said: dict[Instance, status_pb.Status] = {}
        self._to_say = ChangeSignal()

    async def run(self) -> None:
        """Be a member until cancelled."""
        membership = Membership(self._worker_id, self._services, self._runs, self._lease, reach)
        async with asyncio.TaskGroup() as parts:
            parts.create_task(membership.run())
            parts.create_task(follow_assignments(self._services, self._feed, self._lease))
            parts.create_task(self._follow_configs())
            parts.create_task(self._conduct())
            parts.create_task(self._start_tasks())
            parts.create_task(self._report())
            for _ in range(PUBLISHED_AT_A_TIME):
                parts.create_task(self._publish())

    async def _follow_configs(self) -> None:
        await follow(
            lambda after: self._services.config.WatchConnectors(
                config_pb.WatchConnectorsRequest(after_revision=after)
            ),
            snapshot=lambda messages: void(self._feed.connectors(messages)),
            change=self._feed.connector_changed,
        )

    async def _conduct(self) -> None:
        seen_changes = -1
        while True:
            await self._changes.wait(seen_changes)
            await asyncio.sleep(CHANGE_GATHERING_SECONDS)
            seen_changes = self._changes.count
            for action in self._differences.due():
                self._perform(action)

    def _perform(self, action: Action) -> None:
        match action:
            case ConnectorToStart(wanted):
                self._start_connector(wanted)
            case PublishTasks(name):
                self._runs.connector(name).change(publish_due=False, publishing=True)
                self._publishing.put_nowait(name)
            case ConnectorToStop(name):
                self._leave(Instance(name))
            case StartTask(task):
                self._take(task)
            case StopTask(instance):
                self._leave(instance)
            case _:
                pass  # nothing is paused here

    def _leave(self, instance: Instance) -> None:
        generation = self._runs.held()[instance]
        run = self._runs.find(instance)
        if run is not None:
            run.leave()
        self._say(instance, types_pb2.STATE_UNASSIGNED, generation)

    def _start_connector(self, wanted: WantedConnector) -> None:
        runs = RunningConnector(
            wanted.config, wanted.generation, wanted.target, Phase.SETTLED, publish_due=True
        )
        self._runs.connector(wanted.name).enter(runs)
        self._say(Instance(wanted.name), types_pb2.STATE_RUNNING, wanted.generation)

    def _take(self, task: WantedTask) -> None:
        runs = RunningTask(
            task.connector_config, task.task_config, task.partitions, task.generation, task.target
        )
        self._runs.task(task.instance).enter(runs)
        self._starting.append(task)

    async def _start_tasks(self) -> None:
        """Start what is due, however late this process got its turn."""
        last = time.monotonic()
        while True:
            await asyncio.sleep(START_SECONDS)
            now = time.monotonic()
            due, last = round((now - last) * STARTS_AT_A_TIME / START_SECONDS), now
            for _ in range(min(due, len(self._starting))):
                self._started(self._starting.popleft())

    def _started(self, task: WantedTask) -> None:
        present = self._runs.find_task(task.instance)
        if present is not None and present.running and present.running.generation == task.generation:
            present.change(phase=Phase.SETTLED)
            self._say(task.instance, types_pb2.STATE_RUNNING, task.generation)

    async def _publish(self) -> None:
        while True:
            name = await self._publishing.get()
            connector = self._feed.connector(name)
            if connector is not None:
                tasks = task_configs(connector.config)
                request = config_pb.PutTaskConfigsRequest(
                    connector=name,
                    tasks=[config_to_proto(task) for task in tasks],
                    applied_config=config_to_proto(connector.config),
                )
                try:
                    await self._services.config.PutTaskConfigs(request)
                except CopycatError:
                    await asyncio.sleep(RETRY_SECONDS)
                    self._publishing.put_nowait(name)
                    continue
            self._runs.connector(name).change(publishing=False)

    def _say(self, instance: Instance, state: types_pb2.State.ValueType, generation: int) -> None:
        since = time.time_ns() // 1_000_000
        self._said[instance] = status_pb.Status(
            state=state, worker_id=self._worker_id, generation=generation, since_ms=since
        )
        self._to_say.notify()

    async def _report(self) -> None:
        seen_changes = 0
        while True:
            seen_changes = await self._to_say.wait(seen_changes)
            while self._said:
                batch = {each: self._said.pop(each) for each in list(self._said)[:STATUSES_PER_CALL]}
                statuses = [
                    status_pb.InstanceStatus(connector=each.connector, task=each.task, status=status)
                    for each, status in batch.items()
                ]
                try:
                    await self._services.status.ReportStatuses(
                        status_pb.ReportStatusesRequest(statuses=statuses)
                    )
                except CopycatError:
                    self._said = {**batch, **self._said}
                    await asyncio.sleep(RETRY_SECONDS)


class Plugins:
    """Answers the one question the gateway asks for its lists: which class is a source."""

    async def ListPlugins(
        self, request: executor_pb.ListPluginsRequest, context: object
    ) -> executor_pb.ListPluginsResponse:
        """Return the class of the simulated connectors."""
        plugin = executor_pb.Plugin(class_name=CONNECTOR_CLASS, type="source")
        return executor_pb.ListPluginsResponse(plugins=[plugin])


def void(_: object) -> None:
    """Accept a result that nobody needs."""


def _answer_for_plugins(plugins: Plugins, server: grpc.aio.Server) -> None:
    """Serve the one call of the executor's service; it refuses all others."""
    handler = grpc.unary_unary_rpc_method_handler(
        plugins.ListPlugins,
        request_deserializer=executor_pb.ListPluginsRequest.FromString,
        response_serializer=executor_pb.ListPluginsResponse.SerializeToString,
    )
    calls = grpc.method_handlers_generic_handler(EXECUTOR_SERVICE, {"ListPlugins": handler})
    server.add_generic_rpc_handlers((calls,))


async def main(worker_id: str, secret: str, *addresses: str) -> None:
    """Be a worker at `host:port` of the services at these addresses, until SIGTERM."""
    server = RpcServer(worker_id, secret=secret)
    server.add(_answer_for_plugins, Plugins(), EXECUTOR_SERVICE)
    await server.start()
    await server.set_serving(True)
    config, offset, status, scheduler = ([each] for each in addresses)
    async with connected(Addresses(config, offset, status, scheduler), secret=secret) as services:
        running = asyncio.create_task(SimulatedWorker(worker_id, services).run())
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, running.cancel)
        await asyncio.wait([running])
    await server.stop(0.0)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
