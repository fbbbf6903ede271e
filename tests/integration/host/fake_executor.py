"""A real gRPC server that speaks HostService and keeps offsets in memory."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor

import grpc
from copycat.host.v1 import host_service_pb2 as pb
from copycat.host.v1 import host_service_pb2_grpc as rpc
from copycat.types.v1 import types_pb2
from copycat_executor.taskhost.spec import HostSpec
from copycat_rpc.messages import config_to_proto
from copycat_testkit.kafka import wait_until

TOKEN = "a-token"
TEXT = "org.apache.kafka.connect.storage.StringConverter"
FILE = "org.apache.kafka.connect.file.FileStream"


class Attached:
    """One host as its executor sees it."""

    def __init__(self) -> None:
        self.commands: queue.SimpleQueue[pb.AttachResponse | None] = queue.SimpleQueue()
        self.hello: pb.Hello | None = None
        self.secret = ""
        self.beats = 0
        self.ended = threading.Event()


class FakeExecutor(rpc.HostServiceServicer):
    """Answers hosts as the executor does; commits what they acknowledge unless a test wants otherwise."""

    def __init__(self, bootstrap: str) -> None:
        self.worker = {
            "bootstrap.servers": bootstrap,
            "key.converter": TEXT,
            "value.converter": TEXT,
            "header.converter": TEXT,
            "offset.flush.interval.ms": "300",
        }
        self.hosts: dict[str, Attached] = {}
        self.states: list[pb.TaskStateChanged] = []
        self.topics: list[str] = []
        self.offsets: dict[bytes, bytes] = {}
        self.positions: dict[tuple[str, int], int] = {}
        self.metrics: list[pb.TaskMetrics] = []
        self.refuse = ""
        self.lease_ms = 0
        """What it answers heartbeats with; nothing when it is 0."""
        self.stale = False
        self.fences: list[pb.FenceWanted] = []
        self.fence_answers: list[pb.FenceDone] = []
        self.on_positions: Callable[[str, Mapping[tuple[str, int], int]], None] = lambda connector, found: (
            None
        )
        self._starts = 0
        self._newest: dict[str, int] = {}
        self._server = grpc.server(ThreadPoolExecutor(8))
        rpc.add_HostServiceServicer_to_server(self, self._server)
        port = self._server.add_insecure_port("127.0.0.1:0")
        self.address = f"127.0.0.1:{port}"
        self._server.start()

    def Attach(
        self, requests: Iterator[pb.AttachRequest], context: grpc.ServicerContext
    ) -> Iterator[pb.AttachResponse]:
        """Serve one host."""
        host = Attached()
        host.secret = str(dict(context.invocation_metadata()).get("authorization", ""))

        def listen() -> None:
            try:
                for request in requests:
                    self._hear(host, request)
            except grpc.RpcError:
                pass
            host.ended.set()
            host.commands.put(None)

        threading.Thread(target=listen, daemon=True).start()
        while (command := host.commands.get()) is not None:
            yield command

    def _hear(self, host: Attached, event: pb.AttachRequest) -> None:
        match event.WhichOneof("event"):
            case "hello":
                host.hello = event.hello
                self.hosts[event.hello.host_id] = host
                self._renew(host, 0)
            case "heartbeat":
                host.beats += 1
                self._renew(host, event.heartbeat.number)
            case "state_changed":
                self.states.append(event.state_changed)
            case "topics_seen":
                self.topics += event.topics_seen.topics
            case "metrics":
                self.metrics.append(event.metrics)
            case _:
                self._reply(host, event)

    def _renew(self, host: Attached, number: int) -> None:
        if self.lease_ms:
            lease = pb.HostLease(number=number, remaining_ms=self.lease_ms)
            host.commands.put(pb.AttachResponse(lease=lease))

    def _reply(self, host: Attached, event: pb.AttachRequest) -> None:
        match event.WhichOneof("event"):
            case "offsets_wanted":
                self._answer(host, event.offsets_wanted)
            case "acknowledged":
                self._commit(host, event.acknowledged)
            case "fence_wanted":
                self._fence(host, event.fence_wanted)

    def _answer(self, host: Attached, wanted: pb.OffsetsWanted) -> None:
        found = [
            types_pb2.SourceOffset(partition=each, offset=self.offsets.get(each))
            for each in wanted.partitions
        ]
        host.commands.put(
            pb.AttachResponse(offsets_found=pb.OffsetsFound(sequence=wanted.sequence, offsets=found))
        )

    def _fence(self, host: Attached, wanted: pb.FenceWanted) -> None:
        """Answer as the test says, in order; then that everything is fenced and the newest start asks."""
        self.fences.append(wanted)
        done = self.fence_answers.pop(0) if self.fence_answers else pb.FenceDone()
        done.sequence = wanted.sequence
        done.stale = done.stale or wanted.task.start < self._starts
        host.commands.put(pb.AttachResponse(fence_done=done))

    def _commit(self, host: Attached, acknowledged: pb.Acknowledged) -> None:
        ref = acknowledged.task
        stale = self.stale or ref.start < self._newest[ref.connector]
        committed = pb.Committed(task=ref, sequence=acknowledged.sequence, error=self.refuse, stale=stale)
        if not self.refuse and not stale:
            for each in acknowledged.source_offsets:
                self.offsets[each.partition] = each.offset
            for place in acknowledged.sink_offsets:
                self.positions[place.topic, place.partition] = place.offset
            places = {(each.topic, each.partition): each.offset for each in acknowledged.sink_offsets}
            self.on_positions(ref.connector, places)
        host.commands.put(pb.AttachResponse(committed=committed))

    def spec(self, host_id: str) -> HostSpec:
        """Return the launch spec of a host."""
        return HostSpec(host_id, self.address, TOKEN)

    def start(
        self,
        host_id: str,
        config: Mapping[str, str],
        topics: Mapping[str, int] | None = None,
        paused: bool = False,
    ) -> pb.TaskRef:
        """Start a task on a host, with the positions committed so far."""
        self._starts += 1
        ref = pb.TaskRef(connector=config["name"], task=0, generation=1, start=self._starts)
        self._newest[ref.connector] = ref.start
        partitions = [
            types_pb2.TopicPartitionOffset(
                topic=topic, partition=number, offset=self.positions.get((topic, number), -1)
            )
            for topic, count in (topics or {}).items()
            for number in range(count)
        ]
        state = types_pb2.TARGET_STATE_PAUSED if paused else types_pb2.TARGET_STATE_STARTED
        command = pb.StartTask(
            task=ref,
            worker_config=config_to_proto(self.worker),
            connector_config=config_to_proto(config),
            task_config=config_to_proto(config),
            target_state=state,
            partitions=partitions,
        )
        self.send(host_id, pb.AttachResponse(start_task=command))
        return ref

    def stop(self, host_id: str, ref: pb.TaskRef, timeout_ms: int = 10_000) -> None:
        """Ask a host to drain a task."""
        self.send(host_id, pb.AttachResponse(stop_task=pb.StopTask(task=ref, timeout_ms=timeout_ms)))

    def shut_down(self, host_id: str, timeout_ms: int = 10_000) -> None:
        """Ask a host to drain all tasks and end."""
        self.send(host_id, pb.AttachResponse(shutdown=pb.Shutdown(timeout_ms=timeout_ms)))

    def send(self, host_id: str, command: pb.AttachResponse) -> None:
        """Send a command to a host once it has attached."""
        wait_until(lambda: host_id in self.hosts, 60, f"host {host_id} attached")
        self.hosts[host_id].commands.put(command)

    def wait_for_state(
        self, ref: pb.TaskRef, state: types_pb2.State.ValueType, timeout: float = 30
    ) -> pb.TaskStateChanged:
        """Wait until a task reported a state, and return the report."""
        return wait_until(
            lambda: next((each for each in self.states if each.task == ref and each.state == state), None),
            timeout,
            f"{ref.connector} in {types_pb2.State.Name(state)}, said {self.states}",
        )

    def wait(self, condition: Callable[[], object], what: str, timeout: float = 30) -> None:
        """Wait until something is true."""
        wait_until(condition, timeout, what)

    def vanish(self) -> None:
        """Be gone at once, as after a kill."""
        self._server.stop(grace=None).wait()
