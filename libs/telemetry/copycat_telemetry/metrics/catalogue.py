"""Every group of metrics there is."""

from __future__ import annotations

from typing import Final

from copycat_telemetry.metrics import client_groups, task_groups, worker_groups
from copycat_telemetry.metrics.definitions import MetricGroup

GROUPS: Final[tuple[MetricGroup, ...]] = (
    worker_groups.WORKER,
    worker_groups.CONNECTOR_TASKS,
    worker_groups.REBALANCE,
    worker_groups.EVENT_LOG,
    worker_groups.STATUS_STORE,
    task_groups.CONNECTOR,
    task_groups.CONNECTOR_TASK,
    task_groups.TRANSFORM,
    task_groups.PREDICATE,
    task_groups.SOURCE_TASK,
    task_groups.SINK_TASK,
    task_groups.TASK_ERROR,
    client_groups.PRODUCER,
    client_groups.CONSUMER,
    client_groups.CONSUMER_FETCH,
)
