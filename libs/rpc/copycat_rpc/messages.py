"""Our values on the wire: configurations, offsets of sources, target states, connectors and tasks."""

from __future__ import annotations

from collections.abc import Iterable

from copycat.scheduler.v1 import scheduler_service_pb2 as scheduler_pb2
from copycat.status.v1 import status_service_pb2 as status_pb2
from copycat.types.v1 import types_pb2
from copycat_connect.cluster import Config, Instance, TargetState


def config_to_proto(config: Config) -> types_pb2.Config:
    """Return the message of a configuration map."""
    return types_pb2.Config(
        entries=[types_pb2.ConfigEntry(key=key, value=value) for key, value in config.items()]
    )


def config_from_proto(message: types_pb2.Config) -> dict[str, str | None]:
    """Return the configuration map of a message, in the order it was given."""
    # Nearly every value is some text: only of an empty one it has to be asked whether it is there.
    return {entry.key: entry.value or ("" if entry.HasField("value") else None) for entry in message.entries}


def source_offsets_to_proto(
    offsets: Iterable[tuple[bytes, bytes | None]],
) -> list[types_pb2.SourceOffset]:
    """Return the messages of pairs of source partition and offset; None where there is no offset."""
    return [types_pb2.SourceOffset(partition=partition, offset=offset) for partition, offset in offsets]


def source_offsets_from_proto(messages: Iterable[types_pb2.SourceOffset]) -> dict[bytes, bytes | None]:
    """Return offsets by source partition; of one that is named twice the last counts."""
    return {each.partition: each.offset if each.HasField("offset") else None for each in messages}


_TO_PROTO = {
    TargetState.STARTED: types_pb2.TARGET_STATE_STARTED,
    TargetState.PAUSED: types_pb2.TARGET_STATE_PAUSED,
    TargetState.STOPPED: types_pb2.TARGET_STATE_STOPPED,
}
_FROM_PROTO = {number: target for target, number in _TO_PROTO.items()}


def target_state_from_proto(number: types_pb2.TargetState.ValueType) -> TargetState | None:
    """Return the target state of a message; None where it names none."""
    return _FROM_PROTO.get(number)


def target_state_to_proto(target: TargetState | None) -> types_pb2.TargetState.ValueType:
    """Return what a message says of a target state; with None it names none."""
    return types_pb2.TARGET_STATE_UNSPECIFIED if target is None else _TO_PROTO[target]


def instance_from_proto(
    message: scheduler_pb2.Instance | status_pb2.InstanceStatus | status_pb2.RecordActRequest,
) -> Instance:
    """Return the connector or task that a message names; one without a task names the connector itself."""
    return Instance(message.connector, message.task if message.HasField("task") else None)


def instance_to_proto(instance: Instance) -> scheduler_pb2.Instance:
    """Return the message that names a connector or task."""
    return scheduler_pb2.Instance(connector=instance.connector, task=instance.task)
