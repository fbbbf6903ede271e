"""Metrics of the Kafka clients of tasks, under the names of Kafka's Java clients.

Only what means the same is there; the executor's `kafka/client_statistics.py` makes each figure. Java's have
the tag `client-id` alone; connector and task are ours, so that nobody has to take the id to pieces.
"""

from __future__ import annotations

from typing import Final

from copycat_telemetry.metrics.definitions import Metric, MetricGroup, gauge, total
from copycat_telemetry.metrics.task_groups import TASK

CLIENT_ID: Final = "client-id"
_TAGS: Final = (CLIENT_ID, *TASK)


def _traffic(name: str, what: str) -> tuple[Metric, ...]:
    return gauge(f"{name}-rate", f"{what} a second."), total(f"{name}-total", f"{what}.")


_NETWORK: Final = (
    *_traffic("outgoing-byte", "Bytes sent to brokers"),
    *_traffic("incoming-byte", "Bytes received from brokers"),
    *_traffic("request", "Requests sent to brokers"),
    *_traffic("response", "Responses received from brokers"),
    gauge("connection-count", "Connections to brokers."),
)

PRODUCER: Final = MetricGroup(
    "producer-metrics",
    _TAGS,
    (
        *_NETWORK,
        *_traffic("record-send", "Records sent to brokers"),
        gauge("record-queue-time-max", "Longest wait of a record to be sent, milliseconds."),
        gauge("batch-size-max", "Bytes of the largest batch of a partition."),
        gauge("batch-size-avg", "Mean bytes of a batch of a partition."),
        gauge("produce-throttle-time-max", "Longest time brokers held back an answer, milliseconds."),
        gauge("requests-in-flight", "Requests that wait for their response."),
        gauge("buffer-total-bytes", "Bytes of records that may wait to be sent."),
        gauge("buffer-available-bytes", "Bytes of records that still find room."),
    ),
    domain="kafka.producer",
)

CONSUMER: Final = MetricGroup("consumer-metrics", _TAGS, _NETWORK, domain="kafka.consumer")

CONSUMER_FETCH: Final = MetricGroup(
    "consumer-fetch-manager-metrics",
    _TAGS,
    (
        *_traffic("records-consumed", "Records read by the task"),
        gauge("records-lag-max", "Most records that a partition was behind."),
        gauge("fetch-throttle-time-max", "Longest time brokers held back an answer, milliseconds."),
    ),
    domain="kafka.consumer",
)
