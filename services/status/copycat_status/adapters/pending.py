"""Reports that are being written: for each instance only the newest goes on."""

from __future__ import annotations

from dataclasses import dataclass

from copycat_connect.cluster import Instance

from copycat_status.domain.commands import ForgetStatuses, Report


@dataclass(frozen=True, slots=True)
class Ticket:
    """A place in the order in which reports came."""

    number: int
    reports: tuple[Report, ...]
    replaced: frozenset[Instance]
    """Instances of which an older report was waiting; it steps back."""


class Pending:
    """Orders reports by instance, so that an older one never overwrites a newer one, nor a tombstone."""

    def __init__(self) -> None:
        self._newest: dict[Instance, int] = {}
        self._next = 0

    def enter(self, reports: tuple[Report, ...]) -> Ticket:
        """Take reports; from now on they are the newest of their instances."""
        instances = {report.instance for report in reports}
        ticket = Ticket(self._next, reports, frozenset(instances & self._newest.keys()))
        self._newest.update(dict.fromkeys(instances, ticket.number))
        self._next += 1
        return ticket

    def remaining(self, ticket: Ticket) -> tuple[Report, ...]:
        """Return the reports that are still the newest of their instances."""
        return tuple(
            report for report in ticket.reports if self._newest.get(report.instance) == ticket.number
        )

    def leave(self, ticket: Ticket) -> None:
        """Let reports go."""
        for report in self.remaining(ticket):
            self._newest.pop(report.instance, None)

    def forget(self, command: ForgetStatuses) -> None:
        """Drop what waits about instances that are being forgotten."""
        for instance in [instance for instance in self._newest if concerns(command, instance)]:
            del self._newest[instance]


def concerns(command: ForgetStatuses, instance: Instance) -> bool:
    """Say whether an instance is to be forgotten."""
    return instance.connector == command.connector and (not command.tasks or instance.task in command.tasks)
