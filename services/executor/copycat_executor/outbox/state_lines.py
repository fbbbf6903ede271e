"""What connectors and tasks of this worker do now, a line for each change."""

from __future__ import annotations

import logging

from copycat.types.v1 import types_pb2
from copycat_connect.cluster import Instance
from copycat_telemetry.changes import log_change

log = logging.getLogger(__name__)

STATE_PHRASES = {
    types_pb2.STATE_RUNNING: "is running",
    types_pb2.STATE_PAUSED: "is paused",
    types_pb2.STATE_STOPPED: "is stopped",
    types_pb2.STATE_FAILED: "has failed",
    types_pb2.STATE_UNASSIGNED: "has ended on this worker",
    types_pb2.STATE_RESTARTING: "is restarting",
}


def log_state(
    worker: str, instance: Instance, state: types_pb2.State.ValueType, generation: int, why: str | None
) -> None:
    """Log what an instance does from now on; of a trace in `why` only its first line."""
    kind = "connector" if instance.task is None else "task"
    failed = state == types_pb2.STATE_FAILED
    log_change(
        log,
        f"{kind} {STATE_PHRASES.get(state, 'is in an unknown state')}",
        logging.ERROR if failed else logging.INFO,
        connector=instance.connector,
        task=instance.task,
        worker=worker,
        generation=generation,
        why=why.partition("\n")[0] if why else None,
    )
