"""The metrics that every event-sourced service has of its log."""

from __future__ import annotations

from typing import Any

from copycat_eventlog.handler import EventSourced
from copycat_telemetry.metrics.registry import Reading
from copycat_telemetry.metrics.worker_groups import EVENT_LOG


def log_reading(events: EventSourced[Any, Any, Any]) -> Reading:
    """Return whether this instance writes."""
    return Reading(EVENT_LOG, {}, {"leads": float(events.leads)})
