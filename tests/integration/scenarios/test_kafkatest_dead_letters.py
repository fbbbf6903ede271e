"""connect_test of kafkatest: what cannot be read is kept."""

from __future__ import annotations

from pathlib import Path

import pytest
from copycat_testkit.kafka import create_topic, produce, unique, wait_until

from tests.integration.scenarios.cluster import Cluster
from tests.integration.scenarios.files import LineFile
from tests.integration.scenarios.rest import PATIENCE, Rest

pytestmark = pytest.mark.timeout(300)


@pytest.mark.parametrize("tolerance", ["all", "none"])
def test_skip_and_log_to_dlq(cluster: Cluster, rest: Rest, tmp_path: Path, tolerance: str) -> None:
    """Tolerated, bad records are in the queue and good ones delivered; else the first ends the task."""
    topic, queue = create_topic(cluster.bootstrap), unique("letters")
    values = [b'"one"', b"{bad", b'"two"', b"worse}", b'"three"']
    produce(cluster.bootstrap, topic, values)
    file = LineFile(tmp_path / "out.txt")
    config = {
        **file.sink(topic),
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "value.converter.schemas.enable": "false",
        "errors.tolerance": tolerance,
        "errors.deadletterqueue.topic.name": queue,
        "errors.deadletterqueue.topic.replication.factor": "1",
    }
    rest.create(topic, config)
    if tolerance == "all":
        file.holds("one", "two", "three")
        rest.runs(topic)
        wait_until(lambda: cluster.values(queue) == ["{bad", "worse}"], PATIENCE, "both dead letters")
    else:
        rest.wait(topic, "RUNNING", "FAILED")
        wait_until(lambda: cluster.values(queue) == ["{bad"], PATIENCE, "the first dead letter")
        assert set(file.lines()) <= {"one"}
