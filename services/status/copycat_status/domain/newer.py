"""What is left to write of a command that waits, once a newer one is there."""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from copycat_connect.cluster import Instance

from copycat_status.domain.commands import (
    ForgetStatuses,
    Report,
    ReportStatuses,
    ReportTopics,
    ResetTopics,
    StatusCommand,
)
from copycat_status.domain.decide import stands


def left_of(older: StatusCommand, newer: StatusCommand) -> StatusCommand | None:
    """Return what may still be written of the older command without undoing the newer; None is nothing.

    So it makes no difference which of the two reaches the log first.
    """
    match older:
        case ReportStatuses(reports):
            return _reports_left(reports, newer)
        case ReportTopics(connector):
            return None if _forgets_topics(newer, connector) else older
        case ForgetStatuses():
            return _tombstones_left(older, newer)
        case ResetTopics(connector, spared):
            if isinstance(newer, ReportTopics) and newer.connector == connector:
                return replace(older, spared=spared | {*newer.topics})
            return older
        case _:
            assert_never(older)


def _reports_left(reports: tuple[Report, ...], newer: StatusCommand) -> ReportStatuses | None:
    """Keep what the newer command is not about, and statuses of a later generation than its own (I2)."""
    if isinstance(newer, ForgetStatuses):
        left = tuple(report for report in reports if not newer.concerns(report.instance))
    elif isinstance(newer, ReportStatuses):
        said = {report.instance: report for report in newer.reports}
        left = tuple(report for report in reports if not _replaced(report, said.get(report.instance)))
    else:
        left = reports
    return ReportStatuses(left) if left else None


def _replaced(report: Report, newer: Report | None) -> bool:
    return newer is not None and stands(newer, report.status)


def _forgets_topics(command: StatusCommand, connector: str) -> bool:
    match command:
        case ResetTopics():
            return command.connector == connector
        case ForgetStatuses(tasks=()):
            return command.connector == connector
        case _:
            return False


def _tombstones_left(older: ForgetStatuses, newer: StatusCommand) -> ForgetStatuses:
    match newer:
        case ReportStatuses(reports):
            said = frozenset[Instance](r.instance for r in reports if older.concerns(r.instance))
            return replace(older, spared=older.spared | said)
        case ReportTopics(connector) if connector == older.connector and not older.tasks:
            return replace(older, spared_topics=older.spared_topics | {*newer.topics})
        case _:
            return older
