"""One command that was handed over and is not visible yet (`Handed`), and which of them say the same."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from copycat_connect.cluster import Instance
from copycat_eventlog.log import Revision

from copycat_status.domain.commands import (
    Report,
    ReportStatuses,
    ReportTopics,
    ResetTopics,
    StatusCommand,
)
from copycat_status.domain.newer import left_of
from copycat_status.domain.state import StatusState
from copycat_status.domain.status import Status


@dataclass(eq=False, slots=True)
class Handed:
    """A command that waits to be written."""

    left: StatusCommand | None
    """What newer commands leave of it."""
    writing: asyncio.Task[Revision] | None = None
    """Its attempts."""
    given_up: bool = False
    """Whether its attempts are over: it is written when the log is back."""
    _known: Mapping[Instance, Status | None] = field(default_factory=dict)

    def give_way(self, newer: StatusCommand) -> None:
        """Leave to a newer command what that is about."""
        if self.left is not None:
            self.left = left_of(self.left, newer)

    def give_up(self, state: StatusState) -> None:
        """Wait for the log to be back; a reset of topics does not, since its user got an error."""
        self.given_up = True
        if isinstance(self.left, ReportStatuses):
            self._known = {r.instance: state.status(r.instance) for r in self.left.reports}
        if isinstance(self.left, ResetTopics):
            self.left = None

    def give_way_to_log(self, state: StatusState) -> None:
        """Leave out statuses of which the log said anything since they were given up: that is newer."""
        if isinstance(self.left, ReportStatuses):
            reports = self.left.reports
            stays = tuple(r for r in reports if state.status(r.instance) is self._known[r.instance])
            self.left = ReportStatuses(stays) if stays else None


def already_handed(
    command: StatusCommand, waiting: Sequence[Handed]
) -> tuple[StatusCommand | None, list[Handed]]:
    """Return what of a command nobody handed over before, None if that is nothing, and who has the rest."""
    match command:
        case ReportStatuses(reports):
            newest = {report.instance: report for report in reports}.values()
            has_report = {report: handed for handed in waiting for report in _reports(handed)}
            fresh = tuple(report for report in newest if report not in has_report)
            same = [has_report[report] for report in newest if report in has_report]
            return (ReportStatuses(fresh) if fresh else None), _once(same)
        case ReportTopics(connector, topics=topics):
            has_topic = {topic: handed for handed in waiting for topic in _topics(handed, connector)}
            unseen = tuple(topic for topic in topics if topic not in has_topic)
            same = [has_topic[topic] for topic in topics if topic in has_topic]
            return (replace(command, topics=unseen) if unseen else None), _once(same)
        case _:
            same = [handed for handed in waiting if handed.left == command]
            return (None if same else command), same


def _reports(handed: Handed) -> tuple[Report, ...]:
    return handed.left.reports if isinstance(handed.left, ReportStatuses) else ()


def _topics(handed: Handed, connector: str) -> tuple[str, ...]:
    left = handed.left
    return left.topics if isinstance(left, ReportTopics) and left.connector == connector else ()


def _once(found: Sequence[Handed]) -> list[Handed]:
    return list(dict.fromkeys(found))
