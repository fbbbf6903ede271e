"""What a plan is made from, besides the assignments and the workers."""

from __future__ import annotations

from dataclasses import dataclass

from copycat_scheduler.adapters.clusters import ClusterCatalogs
from copycat_scheduler.adapters.connectors import Connectors
from copycat_scheduler.adapters.statuses import NewestStatuses
from copycat_scheduler.domain.commands import DesiredConnector, Reschedule
from copycat_scheduler.domain.leases import Leases
from copycat_scheduler.domain.state import SchedulerState
from copycat_scheduler.domain.views import assigned_workers


@dataclass(frozen=True, slots=True)
class Inputs:
    """Three followers of other services and of Kafka; each holds the newest it has heard."""

    connectors: Connectors
    """What should run."""
    statuses: NewestStatuses
    """What runs."""
    catalog: ClusterCatalogs
    """What sinks read."""

    @property
    def complete(self) -> bool:
        """Whether the config and the status service have both sent a whole snapshot."""
        return self.connectors.known and self.statuses.known

    def suffice(self, leases: Leases, now: float) -> bool:
        """Return whether a plan can be made; statuses are waited for one lease and no longer."""
        return self.connectors.known and (self.statuses.known or now >= leases.first_end)

    def want_topics(self) -> None:
        """Have the topics looked up that the sinks of this moment ask for."""
        self.catalog.want(self.connectors.subscriptions)

    def desired(self) -> dict[str, DesiredConnector]:
        """Return what should run of every connector."""
        return self.connectors.desired(self.catalog.partitions)

    def faults(self) -> dict[str, str]:
        """Return why it cannot be known what sinks read, by connector: what their users have to mend."""
        return self.connectors.faults(self.catalog.fault)

    def world(self, state: SchedulerState, leases: Leases, generation: int, now: float) -> Reschedule:
        """Return the command that makes the assignments fit what is known now.

        Args:
            state: The assignments.
            leases: The workers.
            generation: For what will be assigned.
            now: Seconds on the clock of the leases.
        """
        return Reschedule(
            desired=self.desired(),
            workers=leases.taking,
            absent={name for name in assigned_workers(state) if leases.expected(name, now)},
            held=leases.holders(state.assignments.values(), self.statuses.running, now),
            former=self.statuses.former,
            generation=generation,
        )
