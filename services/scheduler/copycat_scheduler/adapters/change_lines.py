"""Workers that come and go, and work that is given to them, a line for each change."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping

from copycat_connect.cluster import Instance
from copycat_rpc.acts import MOVED, ActReporter
from copycat_telemetry.changes import log_change

from copycat_scheduler.domain.commands import Reschedule
from copycat_scheduler.domain.events import Assigned, SchedulerEvent
from copycat_scheduler.domain.leases import Leases

log = logging.getLogger(__name__)


def log_beat(before: Leases, after: Leases, worker_id: str) -> None:
    """Log that a worker joined, came back, or is leaving."""
    former, now = before.sessions.get(worker_id), after.sessions[worker_id]
    if former is None:
        back = worker_id in before.lost
        log_change(log, "worker came back" if back else "worker joined", worker=worker_id)
    if now.leaving and not (former and former.leaving):
        log_change(log, "worker is leaving", worker=worker_id, holds=len(now.held))


def log_left(before: Leases, after: Leases) -> None:
    """Log a worker that has said goodbye."""
    for worker_id in set(before.sessions) - set(after.sessions):
        log_change(log, "worker has left", worker=worker_id)


def log_died(before: Leases, after: Leases) -> bool:
    """Log a worker whose process is gone; returns whether there is one."""
    died = set(before.sessions) - set(after.sessions)
    for worker_id in died:
        why = "its connection broke, and nobody listens at its address any more"
        log_change(log, "worker died", logging.WARNING, worker=worker_id, why=why)
    return bool(died)


def log_lost(before: Leases, after: Leases) -> None:
    """Log the workers whose leases have ended."""
    for worker_id in sorted(set(before.sessions) - set(after.sessions)):
        why = f"nothing was heard of it for {after.length:g} s"
        log_change(log, "worker is lost", logging.WARNING, worker=worker_id, why=why)


class AssignmentLines:
    """Keeps from whom work was taken until it is given again, so that a move is not logged as a start."""

    def __init__(self, acts: ActReporter) -> None:
        self._acts = acts
        self._taken_from: dict[Instance, str] = {}
        self._gone: dict[Instance, str] = {}

    def log(
        self, events: Iterable[SchedulerEvent], before: Mapping[Instance, Assigned], world: Reschedule
    ) -> None:
        """Log who was given what, and from whom it was taken and why."""
        for event in events:
            last = before.get(event.instance)
            if isinstance(event, Assigned):
                self._log_given(event, last, world)
            elif last is not None:
                self._log_taken(last, world)

    def _log_given(self, event: Assigned, last: Assigned | None, world: Reschedule) -> None:
        instance = event.instance
        taken_from = self._taken_from.pop(instance, None) or world.former.get(instance)
        former = last.worker_id if last else taken_from
        moved = former if former != event.worker_id else None
        why = self._gone.pop(instance, None)
        if moved and why is not None:
            reason = f"From {moved} to {event.worker_id}: {why}."
            self._acts.report(instance, MOVED, reason, generation=event.generation)
        log_change(
            log,
            f"{_kind(instance)} {'moved' if moved else 'assigned'}",
            connector=instance.connector,
            task=instance.task,
            worker=event.worker_id,
            former_worker=moved or None,
            generation=event.generation,
            partitions=len(event.partitions) or None,
        )

    def _log_taken(self, last: Assigned, world: Reschedule) -> None:
        instance, why = last.instance, _why_taken(last.instance, last.worker_id, world)
        if instance.connector in world.desired:
            self._taken_from[instance] = last.worker_id
            self._gone[instance] = why
        else:
            self._taken_from.pop(instance, None)
            self._gone.pop(instance, None)
        log_change(
            log,
            f"{_kind(instance)} taken from its worker",
            connector=instance.connector,
            task=instance.task,
            worker=last.worker_id,
            why=why,
        )


def _kind(instance: Instance) -> str:
    return "connector" if instance.task is None else "task"


def _why_taken(instance: Instance, worker: str, world: Reschedule) -> str:
    wanted = world.desired.get(instance.connector)
    if wanted is None:
        return "its connector was deleted"
    if instance.task is not None and instance.task >= wanted.tasks:
        return "its connector has fewer tasks now"
    if worker not in world.workers:
        return "its worker leaves or is gone"
    return "the work is spread anew"
