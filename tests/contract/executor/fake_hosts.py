"""Hosts without processes: each is a control stream a test speaks on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Any

import grpc
from copycat.host.v1 import host_service_pb2 as pb
from copycat.host.v1.host_service_pb2_grpc import HostServiceStub
from copycat.types.v1 import types_pb2
from copycat_executor.taskhost.spec import HostSpec
from copycat_rpc.secret import credentials

RUNNING, PAUSED = types_pb2.STATE_RUNNING, types_pb2.STATE_PAUSED
Ended = Callable[[str, str | None], None]
HEARTBEAT_INTERVAL_SECONDS = 0.2


class FakeHost:
    """One host. It runs what it is sent at once and drains on demand, unless a test says otherwise."""

    def __init__(self, spec: HostSpec, ended: Ended) -> None:
        self.spec = spec
        self.started: list[pb.StartTask] = []
        self.stopped: list[pb.StopTask] = []
        self.commands: list[pb.AttachResponse] = []
        self.drains = True
        self.takes = True
        self.runs = True
        self.beats = True
        self._ended = ended
        self._events: asyncio.Queue[pb.AttachRequest | None] = asyncio.Queue()
        self.life = asyncio.create_task(self._live())

    def say(self, **event: Any) -> None:
        self._events.put_nowait(pb.AttachRequest(**event))

    def state(self, ref: pb.TaskRef, state: types_pb2.State.ValueType, **more: Any) -> None:
        self.say(state_changed=pb.TaskStateChanged(task=ref, state=state, **more))

    def acknowledge(
        self,
        ref: pb.TaskRef,
        sequence: int,
        offset: bytes,
        partition: bytes = b'{"p":1}',
        expected: bytes | None = None,
    ) -> None:
        said = pb.Acknowledged(task=ref, sequence=sequence)
        said.source_offsets.add(partition=partition, offset=offset)
        if expected is not None:
            said.expected.add(partition=partition, offset=expected)
        self.say(acknowledged=said)

    def fate(self, sequence: int) -> pb.Committed | None:
        """What the executor said of an acknowledgement."""
        found = [each.committed for each in self.commands if each.HasField("committed")]
        return next((each for each in found if each.sequence == sequence), None)

    def may_begin(self, sequence: int) -> pb.FenceDone | None:
        """What the executor said of whether a task may begin."""
        found = [each.fence_done for each in self.commands if each.HasField("fence_done")]
        return next((each for each in found if each.sequence == sequence), None)

    def refs(self) -> list[str]:
        return [f"{each.task.connector}-{each.task.task}" for each in self.started]

    def die(self, reason: str = "killed") -> None:
        self.life.cancel()
        self._ended(self.spec.host_id, reason)

    async def _live(self) -> None:
        reason: str | None = None
        async with grpc.aio.insecure_channel(self.spec.executor_address) as channel:
            try:
                async for command in HostServiceStub(channel).Attach(
                    self._requests(), metadata=credentials(self.spec.token)
                ):
                    self.commands.append(command)
                    if command.HasField("heartbeat_wanted") and self.beats:
                        self.say(heartbeat=pb.Heartbeat(number=1_000_000))
                    self._obey(command)
            except grpc.aio.AioRpcError as error:
                reason = error.details()
        self._ended(self.spec.host_id, reason)

    def _obey(self, command: pb.AttachResponse) -> None:
        match command.WhichOneof("command"):
            case "start_task":
                self.started.append(command.start_task)
                if self.takes:
                    self.say(taken=pb.TaskTaken(task=command.start_task.task))
                if self.runs:
                    paused = command.start_task.target_state == types_pb2.TARGET_STATE_PAUSED
                    self.state(command.start_task.task, PAUSED if paused else RUNNING, version="1.0")
            case "set_task_state":
                paused = command.set_task_state.target_state == types_pb2.TARGET_STATE_PAUSED
                self.state(command.set_task_state.task, PAUSED if paused else RUNNING)
            case "stop_task":
                self.stopped.append(command.stop_task)
                if self.drains:
                    self.state(command.stop_task.task, types_pb2.STATE_UNASSIGNED)
            case "shutdown":
                self._events.put_nowait(None)

    async def _requests(self) -> AsyncIterator[pb.AttachRequest]:
        yield pb.AttachRequest(hello=pb.Hello(host_id=self.spec.host_id, pid=1))
        number = 0
        while True:
            try:
                event = await asyncio.wait_for(self._events.get(), HEARTBEAT_INTERVAL_SECONDS)
            except TimeoutError:
                if not self.beats:
                    continue
                number += 1
                event = pb.AttachRequest(heartbeat=pb.Heartbeat(number=number))
            if event is None:
                return
            yield event


class FakeLauncher:
    """Launches fake hosts in this very loop."""

    def __init__(self) -> None:
        self.hosts: list[FakeHost] = []
        self.killed: list[str] = []
        self.drains = True
        self.attaches = True
        self.launches = True
        """False: Spark has no place for them."""
        self.waiting: list[tuple[HostSpec, Ended]] = []
        self.takes = True
        self.gone_at_once = False
        """Whether the processes of killed hosts are seen to be gone before whoever ran them says so."""
        self.computing = "python"
        """The thread that computes in each host."""
        self.computed: Callable[[], float] = float
        """How much it has, seconds."""
        self.used: Callable[[], float] = float
        """How much the process of each host has, seconds."""

    def launch(self, spec: HostSpec, ended: Ended) -> None:
        if not self.launches:
            self.waiting.append((spec, ended))
            return
        host = FakeHost(spec, ended)
        host.drains, host.takes, host.runs = self.drains, self.takes, self.takes
        self.hosts.append(host)
        if not self.attaches:
            host.die("no interpreter")

    def launch_waiting(self) -> None:
        """Give every host its place that has waited for one."""
        self.launches, waiting = True, self.waiting
        self.waiting = []
        for spec, ended in waiting:
            self.launch(spec, ended)

    def kill(self, host_id: str, pid: int) -> None:
        del pid
        self.killed.append(host_id)
        for host in self.hosts:
            if host.spec.host_id == host_id and not host.life.done():
                host.die("cancelled")

    async def kill_and_wait(self, host_id: str, pid: int) -> bool:
        if not self.gone_at_once:
            self.kill(host_id, pid)
        else:
            self.killed.append(host_id)
        return self.gone_at_once

    def thread_seconds(self, pid: int) -> dict[str, float]:
        del pid
        return {self.computing: self.computed(), "grpc": 0.1}

    def process_seconds(self, pid: int) -> float:
        del pid
        return self.used()

    def of(self, task: str) -> FakeHost:
        """The host in which a task was started last."""
        return next(host for host in reversed(self.hosts) if task in host.refs())

    async def close(self) -> None:
        for host in self.hosts:
            host.life.cancel()
            with suppress(asyncio.CancelledError):
                await host.life
