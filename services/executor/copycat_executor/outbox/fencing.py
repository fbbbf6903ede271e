"""Whether a task that delivers exactly once may begin: its start is the newest, and all before are fenced."""

from __future__ import annotations

import asyncio
from typing import Final

from copycat.config.v1 import config_service_pb2
from copycat.host.v1 import host_service_pb2 as pb
from copycat.scheduler.v1 import scheduler_service_pb2
from copycat_connect.errors import CopycatError
from copycat_rpc.errors import code_of
from copycat_rpc.messages import instance_to_proto
from copycat_rpc.services import ServiceStubs

from copycat_executor import peers
from copycat_executor.outbox.commit_outbox import GenerationFor
from copycat_executor.peers import is_transient

#: A round of the config service takes 90 s at most.
FENCING_SECONDS: Final = 100.0
#: A host has its answer within two minutes, whatever becomes of the services.
ANSWER_SECONDS: Final = 115.0
TASKS_CHANGED: Final = (
    "A new set of task configurations was generated for the connector: the task is replaced"
)
REPLACED: Final = "The scheduler has given the task to a newer start"
_NO_CONNECTOR: Final = "connector.unknown"
_CONFIG_CHANGED: Final = "connector.config_changed"


class TaskFencing:
    """Asks the scheduler who runs a task now, and the config service to fence its predecessors."""

    def __init__(self, services: ServiceStubs, worker_id: str, generation_for: GenerationFor) -> None:
        """`generation_for` returns the generation under which a start of this worker goes on."""
        self._services = services
        self._worker_id = worker_id
        self._generation_for = generation_for

    async def answer(self, wanted: pb.FenceWanted, task_generation: int) -> pb.FenceDone:
        """Answer a task of the task set with this number; an answer that it may not begin says why."""
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                done = await self._ask(wanted.task, task_generation)
        except TimeoutError:
            text = f"The former tasks of the connector were not fenced within {ANSWER_SECONDS:g} s"
            done = pb.FenceDone(error=text, passes=True)
        except CopycatError as error:
            done = _failed(error)
        done.sequence = wanted.sequence
        return done

    async def _ask(self, task: pb.TaskRef, task_generation: int) -> pb.FenceDone:
        # What this worker has heard may be old: it may have been frozen while others took over.
        if not await self._newest(task):
            return pb.FenceDone(error=REPLACED, stale=True)
        request = config_service_pb2.FenceTasksRequest(connector=task.connector)
        fenced = await self._services.config.FenceTasks(request, timeout=FENCING_SECONDS)
        if fenced.task_generation != task_generation:
            return pb.FenceDone(error=TASKS_CHANGED, passes=True)
        return pb.FenceDone()

    async def _newest(self, task: pb.TaskRef) -> bool:
        """Return whether the scheduler means this start, or one that goes on with its hold on the task."""
        instance = peers.task_of(task)
        request = scheduler_service_pb2.GetAssignmentRequest(instance=instance_to_proto(instance))
        found = await self._services.scheduler.GetAssignment(request)
        if not found.HasField("assignment") or found.assignment.worker_id != self._worker_id:
            return False
        return found.assignment.generation <= self._generation_for(instance, task.generation)


def _failed(error: CopycatError) -> pb.FenceDone:
    code = code_of(error).name
    if code == _NO_CONNECTOR:
        return pb.FenceDone(error=error.message, stale=True)
    return pb.FenceDone(error=error.message or code, passes=code == _CONFIG_CHANGED or is_transient(error))
