"""A task host in this process, and what stands in for its executor: for measuring the record path alone."""

from __future__ import annotations

import os
import random
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from copycat.host.v1 import host_service_pb2 as pb
from copycat.types.v1 import types_pb2
from copycat_connect.plugin import load_plugins
from copycat_executor.taskhost.host_questions import HostQueries
from copycat_executor.taskhost.host_surroundings import Garbage, HostSurroundings
from copycat_executor.taskhost.task_host import TaskHost
from copycat_rpc.messages import config_to_proto


@dataclass
class InProcessExecutor:
    """Stands in for the executor: answers a host's questions and remembers what it said."""

    worker: Mapping[str, str]
    states: list[pb.TaskStateChanged] = field(default_factory=list)
    acknowledged: list[pb.Acknowledged] = field(default_factory=list)
    changed: threading.Condition = field(default_factory=threading.Condition)
    host: TaskHost = field(init=False)

    def __post_init__(self) -> None:
        """Make the host."""
        garbage = Garbage(time.monotonic)
        surroundings = HostSurroundings(
            plugins=load_plugins(),
            environment=dict(os.environ),
            clock=time.monotonic,
            random=random.random,
            queries=HostQueries(self.hear),
            garbage=garbage,
        )
        self.host = TaskHost(surroundings, self.hear, lambda: None)
        garbage.replace_automatic()

    def hear(self, event: pb.AttachRequest) -> None:
        """Handle an event and answer it as the executor would."""
        match event.WhichOneof("event"):
            case "state_changed":
                self.states.append(event.state_changed)
                if event.state_changed.trace:
                    sys.stderr.write(event.state_changed.trace)
            case "acknowledged":
                self.acknowledged.append(event.acknowledged)
                answer = pb.Committed(task=event.acknowledged.task, sequence=event.acknowledged.sequence)
                self.host.obey(pb.AttachResponse(committed=answer))
            case "offsets_wanted":
                wanted = event.offsets_wanted
                found = [types_pb2.SourceOffset(partition=each) for each in wanted.partitions]
                answer_found = pb.OffsetsFound(sequence=wanted.sequence, offsets=found)
                self.host.obey(pb.AttachResponse(offsets_found=answer_found))
        with self.changed:
            self.changed.notify_all()

    def start(self, config: Mapping[str, str], topic: str | None = None) -> pb.TaskRef:
        """Start the only task of a connector."""
        ref = pb.TaskRef(connector=config["name"], task=0, generation=1, start=1)
        partitions = [] if topic is None else [types_pb2.TopicPartitionOffset(topic=topic, offset=-1)]
        command = pb.StartTask(
            task=ref,
            worker_config=config_to_proto(self.worker),
            connector_config=config_to_proto(config),
            task_config=config_to_proto(config),
            target_state=types_pb2.TARGET_STATE_STARTED,
            partitions=partitions,
        )
        self.host.obey(pb.AttachResponse(start_task=command))
        return ref

    def stop(self, ref: pb.TaskRef) -> None:
        """Drain a task and wait for its end."""
        self.host.obey(pb.AttachResponse(stop_task=pb.StopTask(task=ref, timeout_ms=20000)))
        self.wait_for(lambda: self.states[-1].state == types_pb2.STATE_UNASSIGNED)

    def wait_for(self, condition: Callable[[], bool], timeout: float = 120) -> None:
        """Wait for an event that makes the condition true."""
        with self.changed:
            if not self.changed.wait_for(lambda: condition() or self.failed, timeout) or self.failed:
                raise SystemExit("the task failed or did not get there")

    @property
    def failed(self) -> bool:
        """True when the last task failed."""
        return bool(self.states) and self.states[-1].state == types_pb2.STATE_FAILED
