"""What the config and scheduler services say, folded into what this worker should run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from copycat.config.v1 import config_service_pb2
from copycat.scheduler.v1 import scheduler_service_pb2
from copycat_connect.cluster import Instance
from copycat_rpc.messages import instance_from_proto

from copycat_executor import peers
from copycat_executor.background import ChangedConnectors, ChangeSignal
from copycat_executor.domain.desired import (
    NOTHING,
    AssignedGeneration,
    Configured,
    DesiredWork,
    assign,
    desired,
    generation_for,
)
from copycat_executor.state.lease import WorkerLease

ConfigChange = config_service_pb2.WatchConnectorsResponse
AssignmentChange = scheduler_service_pb2.WatchAssignmentsResponse


class Feed:
    """Folds both watches; until both gave a snapshot nothing is known, so nothing is stopped."""

    def __init__(self, worker_id: str, changes: ChangeSignal, lease: WorkerLease) -> None:
        """`changes` is notified of each change; `lease` says whether the assignments still count."""
        self._worker_id = worker_id
        self._changes = changes
        self._lease = lease
        self._configured: dict[str, Configured] | None = None
        self._assigned: dict[Instance, AssignedGeneration] | None = None
        self._here: dict[
            str, dict[Instance, AssignedGeneration]
        ] = {}  # what is assigned to this worker, by connector
        self._draining = False
        self.changed_connectors = ChangedConnectors()
        """Connectors of which something changed here."""

    def desired(self, names: Iterable[str] | None = None) -> DesiredWork | None:
        """Return what this worker should run of these connectors, None is of all; None while not known."""
        if self._draining:
            return NOTHING
        if self._configured is None or self._assigned is None or not self._lease.holds():
            return None
        looked_at = self._here if names is None else names
        here = {
            instance: assignment
            for name in looked_at
            for instance, assignment in self._here.get(name, {}).items()
        }
        return desired(self._configured, here, self._worker_id)

    def assignments_count(self) -> bool:
        """Return whether what is assigned counts: no other worker can have been given it since."""
        return self._lease.holds()

    def wants(self, instance: Instance) -> bool:
        """Return whether this worker should run an instance, as far as it knows."""
        wanted = self.desired((instance.connector,))
        if wanted is None:
            return False
        return instance.connector in wanted.connectors if instance.task is None else instance in wanted.tasks

    def drain(self) -> None:
        """Want nothing any more: the worker leaves."""
        self._draining = True
        self._changed(None)

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
        """Apply the config service's snapshot; returns the connectors that are gone since what was known."""
        known = self._configured or {}
        found = (peers.configured(each.connector) for each in snapshot)
        self._configured = {connector.name: connector for connector in found}
        self._changed(None)
        return known.keys() - self._configured.keys()

    def connector_changed(self, message: ConfigChange) -> None:
        """Apply one change of a connector's configuration; other messages change nothing here."""
        if self._configured is None:
            return
        match message.WhichOneof("change"):
            case "connector":
                connector = peers.configured(message.connector)
                self._configured[connector.name] = connector
                self._changed(connector.name)
            case "removed":
                self._configured.pop(message.removed, None)
                self._changed(message.removed)

    def assignments(self, snapshot: Sequence[AssignmentChange]) -> None:
        """Apply the scheduler's snapshot; what happened before it is unknown, so no hold continues."""
        known = self._assigned or {}
        found: dict[Instance, AssignedGeneration] = {}
        for each in snapshot:
            instance = instance_from_proto(each.assignment.instance)
            before = known.get(instance)
            same = before is not None and before.generation == each.assignment.generation
            found[instance] = self._assignment(before if same else None, each.assignment)
        self._assigned, self._here = found, {}
        for instance, assignment in found.items():
            self._keep_here(instance, assignment)
        self._changed(None)

    def forget_assignments(self) -> None:
        """Another worker may have what was assigned here: nothing is known until the next snapshot."""
        self._assigned, self._here = None, {}
        self._changed(None)

    def assignment_changed(self, message: AssignmentChange) -> None:
        """Apply one change of the scheduler."""
        if self._assigned is None:
            return
        match message.WhichOneof("change"):
            case "assignment":
                instance = instance_from_proto(message.assignment.instance)
                assignment = self._assignment(self._assigned.get(instance), message.assignment)
                self._assigned[instance] = assignment
                self._keep_here(instance, assignment)
            case "removed":
                instance = instance_from_proto(message.removed)
                self._assigned.pop(instance, None)
                self._keep_here(instance, None)
            case _:
                return
        self._changed(instance.connector)

    def _keep_here(self, instance: Instance, assignment: AssignedGeneration | None) -> None:
        if assignment is not None and assignment.worker_id == self._worker_id:
            self._here.setdefault(instance.connector, {})[instance] = assignment
        elif instance in (here := self._here.get(instance.connector, {})):
            del here[instance]
            if not here:
                del self._here[instance.connector]

    def _changed(self, connector: str | None) -> None:
        """Have what changed looked at; None is anything."""
        if connector is None:
            self.changed_connectors.add_all()
        else:
            self.changed_connectors.add(connector)
        self._changes.notify()

    def _assignment(
        self, before: AssignedGeneration | None, message: scheduler_service_pb2.Assignment
    ) -> AssignedGeneration:
        return assign(before, message.worker_id, message.generation, peers.partitions(message))
