"""ErrorHandlingIntegrationTest: bad records are retried, skipped and kept in a dead letter queue."""

from __future__ import annotations

import pytest
from copycat_testkit.kafka import consume_all, create_topic, produce, unique, wait_until

from tests.integration.scenarios.cluster import Cluster
from tests.integration.scenarios.monitors import Monitor
from tests.integration.scenarios.rest import PATIENCE, Rest

pytestmark = pytest.mark.timeout(300)

RECORDS = 1000
VALUES = [f"value-{number}" for number in range(RECORDS)]


def tolerant(queue: str) -> dict[str, str]:
    """Return what lets a sink go on, with its failures in a queue."""
    return {
        "errors.tolerance": "all",
        "errors.retry.timeout": "1000",
        "errors.log.enable": "false",
        "errors.deadletterqueue.topic.name": queue,
        "errors.deadletterqueue.topic.replication.factor": "1",
        "errors.deadletterqueue.context.headers.enable": "true",
    }


def written(cluster: Cluster) -> str:
    """Return a new topic with a thousand records."""
    topic = create_topic(cluster.bootstrap)
    produce(cluster.bootstrap, topic, [value.encode() for value in VALUES])
    return topic


def test_skip_retry_and_dlq_with_headers(cluster: Cluster, rest: Rest, monitor: Monitor) -> None:
    """testSkipRetryAndDLQWithHeaders: one record fails for good, the others arrive, and it says why."""
    topic, queue = written(cluster), unique("letters")
    faulty = {
        "transforms": "faulty",
        "transforms.faulty.type": "monitorable.FaultyPassthrough",
        "transforms.faulty.value": "value-7",
    }
    rest.create(topic, {**monitor.sink(topic), **tolerant(queue), **faulty})
    expected = [value for value in VALUES if value != "value-7"]
    wait_until(lambda: monitor.values() == expected, PATIENCE, "all others")
    wait_until(lambda: len(cluster.values(queue)) == 1, PATIENCE, "one dead letter")
    (letter,) = consume_all(cluster.bootstrap, queue)
    headers = dict(letter.headers() or [])
    assert letter.value() == b"value-7"
    assert headers["__connect.errors.topic"] == topic.encode()
    failure = b"org.apache.kafka.connect.errors.RetriableException"
    assert headers["__connect.errors.exception.class.name"] == failure
    assert headers["__connect.errors.exception.message"] == b"Error when value='value-7'"


def test_errant_record_reporter(cluster: Cluster, rest: Rest, monitor: Monitor) -> None:
    """testErrantRecordReporter: a sink that reports every record has them all in the queue."""
    topic, queue = written(cluster), unique("letters")
    few = {"consumer.override.max.poll.records": "5", "reports.errors": "true"}
    rest.create(topic, {**monitor.sink(topic), **tolerant(queue), **few})
    wait_until(lambda: cluster.values(queue) == VALUES, PATIENCE, "all records in the queue")
    rest.runs(topic)
