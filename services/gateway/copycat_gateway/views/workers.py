"""Live workers; Kafka Connect has no such resource."""

# No postponed annotations here: the OpenAPI document would not see `NotRequired` in them.
from collections.abc import Callable
from typing import NotRequired, TypedDict

from copycat.scheduler.v1 import scheduler_service_pb2 as scheduler_pb2


class HeldInstance(TypedDict):
    """A connector, or one of its tasks, that a worker holds."""

    connector: str
    task: NotRequired[int]
    generation: int


class WorkerInfo(TypedDict):
    """A live worker and all it holds."""

    worker_id: str
    leaving: bool
    held: list[HeldInstance]


def worker_info(worker: scheduler_pb2.Worker, shows: Callable[[str], bool]) -> WorkerInfo:
    """Return a worker, with what it holds of the connectors that are shown."""
    return {
        "worker_id": worker.worker_id,
        "leaving": worker.leaving,
        "held": [_held_instance(held) for held in worker.held if shows(held.instance.connector)],
    }


def _held_instance(held: scheduler_pb2.Held) -> HeldInstance:
    if held.instance.HasField("task"):
        return {
            "connector": held.instance.connector,
            "task": held.instance.task,
            "generation": held.generation,
        }
    return {"connector": held.instance.connector, "generation": held.generation}
