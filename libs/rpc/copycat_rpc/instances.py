"""Connectors and tasks on the wire."""

from __future__ import annotations

from copycat.scheduler.v1 import scheduler_service_pb2 as scheduler_pb2
from copycat.status.v1 import status_service_pb2 as status_pb2
from copycat_connect.cluster import Instance


def instance_from_proto(
    message: scheduler_pb2.Instance | status_pb2.InstanceStatus | status_pb2.RecordActRequest,
) -> Instance:
    """Return the connector or task that a message names; one without a task names the connector itself."""
    return Instance(message.connector, message.task if message.HasField("task") else None)


def instance_to_proto(instance: Instance) -> scheduler_pb2.Instance:
    """Return the message that names a connector or task."""
    return scheduler_pb2.Instance(connector=instance.connector, task=instance.task)
