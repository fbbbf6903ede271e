"""The metrics that every event-sourced service has of its log."""

from __future__ import annotations

from typing import Any

from copycat_eventlog.handler import EventSourced
from copycat_eventlog.unreadable import Unreadable
from copycat_telemetry.metrics.registry import Reading, Value
from copycat_telemetry.metrics.worker_groups import (
    EVENT_LOG,
    LAST_UNREADABLE_RECORD,
    LOST_BECAUSE,
    UNREADABLE_RECORDS,
)


def log_reading(events: EventSourced[Any, Any, Any], *others: Unreadable) -> Reading:
    """Return whether this instance writes, and whether there is still what it writes to.

    And what it could not read: of its log, and of `others`.
    """
    found = [each for each in (events.unreadable, *others) if each.records]
    values: dict[str, Value] = {
        "leads": float(events.leads),
        "lost": float(bool(events.trouble)),
        UNREADABLE_RECORDS: float(sum(each.records for each in found)),
    }
    if events.trouble:
        values[LOST_BECAUSE] = events.trouble
    if found:
        values[LAST_UNREADABLE_RECORD] = max(found, key=lambda each: each.at).last
    return Reading(EVENT_LOG, {}, values)
