"""What the config and scheduler services say, folded into what this worker should run."""

from __future__ import annotations

from collections.abc import Sequence

from copycat.config.v1 import config_service_pb2
from copycat.scheduler.v1 import scheduler_service_pb2
from copycat_connect.cluster import Instance
from copycat_rpc.instances import instance_from_proto

from copycat_executor.background.bell import Bell
from copycat_executor.domain.desired import (
    NOTHING,
    Assigned,
    Configured,
    Desired,
    assign,
    desired,
    generation_for,
)
from copycat_executor.peers import messages
from copycat_executor.state.tenure import Tenure

ConfigChange = config_service_pb2.WatchConnectorsResponse
AssignmentChange = scheduler_service_pb2.WatchAssignmentsResponse


class Feed:
    """Folds both watches; until both gave a snapshot nothing is known, so nothing is stopped."""

    def __init__(self, worker_id: str, bell: Bell, tenure: Tenure) -> None:
        """Take the bell to ring after each change, and what says whether the assignments still count."""
        self._worker_id = worker_id
        self._bell = bell
        self._tenure = tenure
        self._configured: dict[str, Configured] | None = None
        self._assigned: dict[Instance, Assigned] | None = None
        self._draining = False

    def desired(self) -> Desired | None:
        """Return what this worker should run; None while that is not known."""
        if self._draining:
            return NOTHING
        if self._configured is None or self._assigned is None or not self._tenure.holds():
            return None
        return desired(self._configured, self._assigned, self._worker_id)

    def drain(self) -> None:
        """Want nothing any more: the worker leaves."""
        self._draining = True
        self._bell.ring()

    def connector(self, name: str) -> Configured | None:
        """Return a connector's configuration, if there is one."""
        return (self._configured or {}).get(name)

    def is_configured(self, instance: Instance) -> bool:
        """Return whether the connector, or the task's place in its task set, still exists."""
        connector = self.connector(instance.connector)
        return connector is not None and (instance.task is None or instance.task < len(connector.tasks))

    def generation_for(self, instance: Instance, generation: int) -> int:
        """Return the generation under which to commit what a start of `generation` achieved (I2)."""
        return generation_for(generation, (self._assigned or {}).get(instance), self._worker_id)

    def connectors(self, snapshot: Sequence[ConfigChange]) -> set[str]:
        """Take the config service's snapshot; returns the connectors that are gone since what was known."""
        known = self._configured or {}
        found = (messages.configured(each.connector) for each in snapshot)
        self._configured = {connector.name: connector for connector in found}
        self._bell.ring()
        return known.keys() - self._configured.keys()

    def connector_changed(self, message: ConfigChange) -> None:
        """Take one change of a connector's configuration; other messages of the watch change nothing here."""
        if self._configured is None:
            return
        match message.WhichOneof("change"):
            case "connector":
                connector = messages.configured(message.connector)
                self._configured[connector.name] = connector
            case "removed":
                self._configured.pop(message.removed, None)
        self._bell.ring()

    def assignments(self, snapshot: Sequence[AssignmentChange]) -> None:
        """Take the scheduler's snapshot; what happened before it is unknown, so no hold continues."""
        known = self._assigned or {}
        found: dict[Instance, Assigned] = {}
        for each in snapshot:
            instance = instance_from_proto(each.assignment.instance)
            before = known.get(instance)
            same = before is not None and before.generation == each.assignment.generation
            found[instance] = self._assignment(before if same else None, each.assignment)
        self._assigned = found
        self._bell.ring()

    def forget_assignments(self) -> None:
        """Another worker may have what was assigned here: nothing is known until the next snapshot."""
        self._assigned = None
        self._bell.ring()

    def assignment_changed(self, message: AssignmentChange) -> None:
        """Take one change of the scheduler."""
        if self._assigned is None:
            return
        match message.WhichOneof("change"):
            case "assignment":
                instance = instance_from_proto(message.assignment.instance)
                self._assigned[instance] = self._assignment(self._assigned.get(instance), message.assignment)
            case "removed":
                self._assigned.pop(instance_from_proto(message.removed), None)
        self._bell.ring()

    def _assignment(self, before: Assigned | None, message: scheduler_service_pb2.Assignment) -> Assigned:
        return assign(before, message.worker_id, message.generation, messages.partitions(message))
