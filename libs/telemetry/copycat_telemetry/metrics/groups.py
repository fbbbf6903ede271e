"""Every group of metrics there is.

Kafka Connect's of workers, connectors and tasks (`ConnectMetricsRegistry` of 4.4.0, KIP-196, KIP-891), the
status retry KIP's, ours of event logs, and those of the Kafka clients of tasks under the names of Java's:
only what means the same is there (`client_statistics.py` of the executor makes it). Java's have the tag
`client-id` alone; connector and task are ours, so that nobody has to take the id to pieces.
"""

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


TASK: Final = ("connector", "task")

CONNECTOR: Final = MetricGroup(
    "connector-metrics",
    ("connector",),
    (
        text("status", "State of the connector: unassigned, running, paused, stopped, failed, restarting."),
        text("connector-type", "source or sink."),
        text("connector-class", "Class of the connector."),
        text("connector-version", "Version of the connector's plugin."),
    ),
)

CONNECTOR_TASK: Final = MetricGroup(
    "connector-task-metrics",
    TASK,
    (
        text("status", "State of the task: unassigned, running, paused, failed, restarting."),
        gauge("running-ratio", "Share of its time the task was running, 0 to 1."),
        gauge("pause-ratio", "Share of its time the task was paused, 0 to 1."),
        gauge("offset-commit-max-time-ms", "Longest commit of offsets that succeeded, milliseconds."),
        gauge("offset-commit-avg-time-ms", "Mean time of the commits that succeeded, milliseconds."),
        gauge("batch-size-max", "Records of the largest batch."),
        gauge("batch-size-avg", "Mean records of a batch."),
        gauge("offset-commit-failure-percentage", "Share of commits that failed, 0 to 1."),
        gauge("offset-commit-success-percentage", "Share of commits that succeeded, 0 to 1."),
        text("connector-class", "Class of the connector."),
        text("connector-version", "Version of the connector's plugin."),
        text("connector-type", "source or sink."),
        text("task-class", "Class of the task."),
        text("task-version", "Version of the task's plugin."),
        text("key-converter-class", "Class of the key converter."),
        text("key-converter-version", "Version of the key converter."),
        text("value-converter-class", "Class of the value converter."),
        text("value-converter-version", "Version of the value converter."),
        text("header-converter-class", "Class of the header converter."),
        text("header-converter-version", "Version of the header converter."),
    ),
)

TRANSFORM: Final = MetricGroup(
    "connector-transform-metrics",
    (*TASK, "transform"),
    (
        text("transform-class", "Class of the transformation."),
        text("transform-version", "Version of the transformation."),
    ),
)

PREDICATE: Final = MetricGroup(
    "connector-predicate-metrics",
    (*TASK, "predicate"),
    (
        text("predicate-class", "Class of the predicate."),
        text("predicate-version", "Version of the predicate."),
    ),
)

SOURCE_TASK: Final = MetricGroup(
    "source-task-metrics",
    TASK,
    (
        gauge("source-record-poll-rate", "Records polled a second, before transformations."),
        total("source-record-poll-total", "Records polled, before transformations."),
        gauge("source-record-write-rate", "Records written to Kafka a second."),
        total("source-record-write-total", "Records written to Kafka."),
        gauge("poll-batch-max-time-ms", "Longest poll that returned a batch, milliseconds."),
        gauge("poll-batch-avg-time-ms", "Mean time of the polls that returned a batch, milliseconds."),
        gauge("source-record-active-count", "Records polled and not yet written."),
        gauge("source-record-active-count-max", "Most records polled and not yet written."),
        gauge("source-record-active-count-avg", "Mean of the records polled and not yet written."),
        total(
            "source-producer-replaced-total", "Kafka clients replaced since they delivered nothing any more."
        ),
        gauge("transaction-size-min", "Records of the smallest transaction."),
        gauge("transaction-size-max", "Records of the largest transaction."),
        gauge("transaction-size-avg", "Mean records of a transaction."),
    ),
)

SINK_TASK: Final = MetricGroup(
    "sink-task-metrics",
    TASK,
    (
        gauge("sink-record-read-rate", "Records read from Kafka a second, before transformations."),
        total("sink-record-read-total", "Records read from Kafka, before transformations."),
        gauge("sink-record-send-rate", "Records put a second, after transformations."),
        total("sink-record-send-total", "Records put, after transformations."),
        gauge("sink-record-lag-max", "Most records a partition of the task is behind."),
        total("sink-consumer-replaced-total", "Kafka clients replaced since they read nothing any more."),
        gauge("partition-count", "Topic partitions assigned to the task."),
        gauge("offset-commit-seq-no", "Number of the newest commit."),
        gauge("offset-commit-completion-rate", "Commits that succeeded, a second."),
        total("offset-commit-completion-total", "Commits that succeeded."),
        gauge("offset-commit-skip-rate", "Commits settled after a later one, a second."),
        total("offset-commit-skip-total", "Commits settled after a later one."),
        gauge("put-batch-max-time-ms", "Longest put, milliseconds."),
        gauge("put-batch-avg-time-ms", "Mean time of a put, milliseconds."),
        gauge("sink-record-active-count", "Records read and not yet committed."),
        gauge("sink-record-active-count-max", "Most records read and not yet committed."),
        gauge("sink-record-active-count-avg", "Mean of the records read and not yet committed."),
    ),
)

TASK_ERROR: Final = MetricGroup(
    "task-error-metrics",
    TASK,
    (
        total("total-record-failures", "Attempts on records that failed, retries included."),
        total("total-record-errors", "Records that failed for good."),
        total("total-records-skipped", "Records left out since errors are tolerated."),
        total("total-retries", "Attempts that were repeated."),
        total("total-errors-logged", "Failed records that were logged."),
        total("deadletterqueue-produce-requests", "Records sent to the dead letter queue."),
        total("deadletterqueue-produce-failures", "Records the dead letter queue did not take."),
        total(
            "deadletterqueue-producer-replaced-total",
            "Kafka clients replaced since they delivered nothing any more.",
        ),
        gauge("last-error-timestamp", "When a record failed last, milliseconds since the epoch."),
    ),
)

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

GROUPS: Final[tuple[MetricGroup, ...]] = (
    WORKER,
    CONNECTOR_TASKS,
    REBALANCE,
    EVENT_LOG,
    STATUS_STORE,
    CONNECTOR,
    CONNECTOR_TASK,
    TRANSFORM,
    PREDICATE,
    SOURCE_TASK,
    SINK_TASK,
    TASK_ERROR,
    PRODUCER,
    CONSUMER,
    CONSUMER_FETCH,
)
