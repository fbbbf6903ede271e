"""Kafka Connect's metrics of connectors and tasks (`ConnectMetricsRegistry` of 4.4.0, KIP-196, KIP-891)."""

from __future__ import annotations

from typing import Final

from copycat_telemetry.metrics.definitions import MetricGroup, gauge, text, total

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
