"""The other services: their messages as the executor's own types, and which of their failures may pass."""

from __future__ import annotations

from copycat.config.v1 import config_service_pb2
from copycat.host.v1 import host_service_pb2
from copycat.scheduler.v1 import scheduler_service_pb2
from copycat_connect.cluster import Instance, TargetState, TopicPartition
from copycat_connect.errors import CopycatError, UnavailableError
from copycat_connect.failure_kind import FailureKind
from copycat_rpc.errors import code_of
from copycat_rpc.messages import config_from_proto, instance_to_proto, target_state_from_proto

from copycat_executor.domain.desired import Configured

TRANSIENT_CODES = frozenset({"UNAVAILABLE", "UNKNOWN", "DEADLINE_EXCEEDED"})


def configured(message: config_service_pb2.Connector) -> Configured:
    """Read a connector as the config service describes it."""
    return Configured(
        name=message.name,
        config=config_from_proto(message.config),
        target=target_state_from_proto(message.target_state) or TargetState.STARTED,
        tasks=tuple(config_from_proto(task) for task in message.tasks),
        inconsistent=message.inconsistent,
        outdated=message.tasks_outdated,
        task_generation=message.task_generation,
    )


def held(instance: Instance, generation: int) -> scheduler_service_pb2.Held:
    """Write what this worker holds."""
    return scheduler_service_pb2.Held(instance=instance_to_proto(instance), generation=generation)


def partitions(message: scheduler_service_pb2.Assignment) -> tuple[TopicPartition, ...]:
    """Read what a sink task is to read."""
    return tuple(TopicPartition(each.topic, each.partition) for each in message.partitions)


def task_of(ref: host_service_pb2.TaskRef) -> Instance:
    """Read the task of a reference."""
    return Instance(ref.connector, ref.task)


def failure_kind(name: str) -> FailureKind:
    """Return what a host says of a failure; a bug, where it says nothing that is known."""
    return next((kind for kind in FailureKind if kind.value == name), FailureKind.BUG)


def is_transient(error: CopycatError) -> bool:
    """Return whether the same call may succeed later; an unknown outcome counts, our calls may repeat."""
    return isinstance(error, UnavailableError) or code_of(error).grpc in TRANSIENT_CODES
