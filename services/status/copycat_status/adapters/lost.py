"""Reports that were given up: the newest of each instance, to be made good when the log is back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from copycat_connect.cluster import Instance

from copycat_status.domain.commands import ForgetStatuses, Report
from copycat_status.domain.state import StatusState
from copycat_status.domain.status import Status


@dataclass(frozen=True, slots=True)
class _Given:
    report: Report
    known: Status | None
    """What the fold had when the report was given up."""


class Lost:
    """Keeps reports until the log says anything else about their instances."""

    def __init__(self) -> None:
        self._given: dict[Instance, _Given] = {}

    def keep(self, reports: Iterable[Report], state: StatusState) -> None:
        """Keep reports that could not be written, with what is folded of their instances now."""
        self._given |= {report.instance: _Given(report, state.status(report.instance)) for report in reports}

    def drop(self, reports: Iterable[Report]) -> None:
        """Forget what newer reports replace."""
        for report in reports:
            self._given.pop(report.instance, None)

    def settle(self, reports: Iterable[Report]) -> None:
        """Forget what was written; a newer report that was given up meanwhile stays."""
        for report in reports:
            given = self._given.get(report.instance)
            if given is not None and given.report is report:
                del self._given[report.instance]

    def forget(self, command: ForgetStatuses) -> None:
        """Drop what concerns instances that are being forgotten."""
        self._given = {i: given for i, given in self._given.items() if not command.concerns(i)}

    def due(self, state: StatusState) -> tuple[Report, ...]:
        """Return what is still worth writing; where another record was folded since, that is newer."""
        self._given = {i: given for i, given in self._given.items() if state.status(i) is given.known}
        return tuple(given.report for given in self._given.values())
