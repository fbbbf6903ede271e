"""What the log says of updates that are not written at once."""

from __future__ import annotations

import logging
from typing import assert_never

from copycat_telemetry.changes import log_change, log_each

from copycat_status.adapters.codec import instance_key, topic_key
from copycat_status.domain.commands import (
    ForgetStatuses,
    ReportStatuses,
    ReportTopics,
    ResetTopics,
    StatusCommand,
)

log = logging.getLogger(__name__)


def updates_of(command: StatusCommand) -> list[dict[str, object]]:
    """Return what each update of a command is about, as fields of a log line."""
    match command:
        case ReportStatuses(reports):
            return [
                {
                    "key": instance_key(report.instance),
                    "connector": report.instance.connector,
                    "task": report.instance.task,
                    "state": report.status.state.value,
                }
                for report in reports
            ]
        case ReportTopics(connector, task, topics):
            return [
                {"key": topic_key(topic, connector), "connector": connector, "task": task, "topic": topic}
                for topic in topics
            ]
        case ForgetStatuses(connector, tasks):
            return [{"connector": connector, "forgotten_tasks": list(tasks) or "all"}]
        case ResetTopics(connector):
            return [{"connector": connector, "forgotten_topics": "all"}]
        case _:
            assert_never(command)


def log_retry(command: StatusCommand, number: int, wait: float, cause: str, *, always: bool) -> None:
    """Say that a command is tried again now: which retry it is, and the seconds of waiting before it.

    Not `always`, such lines are counted where they are too many (endless retries).
    """
    updates = updates_of(command)
    about = updates[0] if len(updates) == 1 else {"connector": updates[0]["connector"]}
    more = {"updates": len(updates), "retry": number, "waited_ms": round(wait * 1000), "why": cause}
    tell = log_each if always else log_change
    tell(log, "status update is tried again", logging.WARNING, **about, **more)


def log_given_up(command: StatusCommand, retries: int, cause: str) -> None:
    """Say of every update of a command that it was given up: its caller may be gone by now."""
    for update in updates_of(command):
        log_each(log, "status update given up", logging.ERROR, **update, retries=retries, why=cause)


def log_made_good(command: StatusCommand) -> None:
    """Say that a command which was given up is written."""
    for update in updates_of(command):
        log_change(log, "status update written after it was given up", logging.INFO, **update)
