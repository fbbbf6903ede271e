"""Target states on the wire."""

from __future__ import annotations

from copycat.types.v1 import types_pb2
from copycat_connect.cluster import TargetState

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
