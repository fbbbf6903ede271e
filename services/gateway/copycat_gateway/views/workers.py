"""Live workers; Kafka Connect has no such resource."""

from __future__ import annotations

from collections.abc import Callable

from copycat.scheduler.v1 import scheduler_service_pb2 as scheduler_pb2
from copycat_rest.answers import HeldInstance, WorkerInfo
from msgspec import UNSET


def worker_info(worker: scheduler_pb2.Worker, shows: Callable[[str], bool]) -> WorkerInfo:
    """Return a worker, with what it holds of the connectors that are shown."""
    held = [_held_instance(each) for each in worker.held if shows(each.instance.connector)]
    return WorkerInfo(worker.worker_id, worker.leaving, held)


def _held_instance(held: scheduler_pb2.Held) -> HeldInstance:
    instance = held.instance
    return HeldInstance(
        connector=instance.connector,
        task=instance.task if instance.HasField("task") else UNSET,
        generation=held.generation,
    )
