"""Kafka Connect's metrics of workers (`ConnectMetricsRegistry` of 4.4.0) and the status retry KIP's."""

from __future__ import annotations

from typing import Final

from copycat_telemetry.metrics.definitions import Metric, MetricGroup, gauge, text, total


def _startups(kind: str) -> tuple[Metric, ...]:
    return (
        total(f"{kind}-startup-attempts-total", f"Starts of a {kind} that were tried."),
        total(f"{kind}-startup-success-total", f"Starts of a {kind} that succeeded."),
        total(f"{kind}-startup-failure-total", f"Starts of a {kind} that failed."),
        gauge(f"{kind}-startup-success-percentage", f"Share of starts of a {kind} that succeeded, 0 to 1."),
        gauge(f"{kind}-startup-failure-percentage", f"Share of starts of a {kind} that failed, 0 to 1."),
    )


WORKER: Final = MetricGroup(
    "connect-worker-metrics",
    (),
    (
        gauge("connector-count", "Connectors on this worker."),
        gauge("task-count", "Tasks on this worker."),
        *_startups("connector"),
        *_startups("task"),
    ),
)

#: Of one connector: the same type as the worker's own, with its tag.
CONNECTOR_TASKS: Final = MetricGroup(
    "connect-worker-metrics",
    ("connector",),
    (
        gauge("connector-total-task-count", "Tasks of the connector on this worker."),
        *(
            gauge(f"connector-{state}-task-count", f"Tasks of the connector on this worker that are {state}.")
            for state in ("running", "paused", "failed", "unassigned", "destroyed", "restarting")
        ),
    ),
)

REBALANCE: Final = MetricGroup(
    "connect-worker-rebalance-metrics",
    (),
    (
        text("connect-protocol", "How the workers agree who runs what."),
        text("leader-name", "Who assigns connectors and tasks to workers."),
        gauge("epoch", "Generation of the newest assignment."),
        total("completed-rebalances-total", "Changes of assignments that were completed."),
        gauge("rebalancing", "1 while assignments change, else 0."),
        gauge("rebalance-max-time-ms", "Longest change of assignments, milliseconds."),
        gauge("rebalance-avg-time-ms", "Mean time of a change of assignments, milliseconds."),
        gauge("time-since-last-rebalance-ms", "Milliseconds since assignments changed; infinite before."),
    ),
)

UNREADABLE_RECORDS: Final = "unreadable-records-total"
LAST_UNREADABLE_RECORD: Final = "last-unreadable-record"
LOST_BECAUSE: Final = "lost-because"
#: Ours: of each event-sourced service.
EVENT_LOG: Final = MetricGroup(
    "event-log-metrics",
    (),
    (
        gauge("leads", "1 where this instance of the service writes its topic, 0 where it stands by."),
        total(UNREADABLE_RECORDS, "Records of its topic that could not be read and were passed over."),
        text(LAST_UNREADABLE_RECORD, "Topic, partition and offset of the last of them."),
        gauge("lost", "1 where the topic was deleted while the service ran on it, else 0."),
        text(
            LOST_BECAUSE, "What happened to the topic, what is lost, and the ways on; only where it is lost."
        ),
    ),
)

STATUS_STORE: Final = MetricGroup(
    "status-backing-store-metrics",
    (),
    (
        total("status-update-retry-total", "Attempts to write a status that were repeated."),
        total("status-update-failure-total", "Status updates that were given up."),
        total("status-update-success-total", "Status updates that were written."),
    ),
)
