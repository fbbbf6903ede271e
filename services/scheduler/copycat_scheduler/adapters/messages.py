"""Assignments and workers as messages of the contract, and what workers say in their beats."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import assert_never

from copycat.scheduler.v1 import scheduler_service_pb2 as pb
from copycat.types.v1 import types_pb2
from copycat_connect.cluster import Instance, in_order
from copycat_rpc.messages import instance_from_proto, instance_to_proto

from copycat_scheduler.domain.events import Assigned, SchedulerEvent, Unassigned
from copycat_scheduler.domain.leases import WorkerSession
from copycat_scheduler.domain.state import SchedulerState
from copycat_scheduler.domain.views import list_assignments


def assignment_message(assigned: Assigned) -> pb.Assignment:
    """Return the message of an assignment."""
    return pb.Assignment(
        instance=instance_to_proto(assigned.instance),
        worker_id=assigned.worker_id,
        generation=assigned.generation,
        partitions=[types_pb2.TopicPartition(topic=t, partition=p) for t, p in assigned.partitions],
    )


def worker_message(session: WorkerSession) -> pb.Worker:
    """Return the message of a live worker, as its last beat described it."""
    held = [
        pb.Held(instance=instance_to_proto(each), generation=session.held[each])
        for each in in_order(session.held)
    ]
    return pb.Worker(worker_id=session.worker_id, leaving=session.leaving, held=held)


def held_instances(messages: Iterable[pb.Held]) -> Mapping[Instance, int]:
    """Return what a beat says its worker holds, with the generation of each."""
    return {instance_from_proto(each.instance): each.generation for each in messages}


def snapshot_messages(state: SchedulerState) -> Iterator[pb.WatchAssignmentsResponse]:
    """Yield every assignment."""
    for assigned in list_assignments(state):
        yield pb.WatchAssignmentsResponse(assignment=assignment_message(assigned))


def snapshot_complete() -> pb.WatchAssignmentsResponse:
    """Return the end of a snapshot."""
    return pb.WatchAssignmentsResponse(snapshot_complete=True)


def change_messages(event: SchedulerEvent, state: SchedulerState) -> Iterable[pb.WatchAssignmentsResponse]:
    """Return what watchers see of an event; `state` is the one right after it."""
    match event:
        case Assigned():
            return (pb.WatchAssignmentsResponse(assignment=assignment_message(event)),)
        case Unassigned(instance):
            return (pb.WatchAssignmentsResponse(removed=instance_to_proto(instance)),)
        case _:
            assert_never(event)
