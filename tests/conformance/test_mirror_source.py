"""The mirror source passes the suite every source passes; one broker is both clusters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from confluent_kafka.admin import AdminClient
from copycat_connect.data import ConnectValue, SourceBatch
from copycat_connect.plugin import CONNECTORS, PluginSpec, load_plugins
from copycat_mirror.source import task as task_module
from copycat_mirror.source.plugin import PARTITIONS
from copycat_testkit.conformance import SourceConformance
from copycat_testkit.conformance.contexts import FakeSourceContext
from copycat_testkit.kafka import create_topic, delete_topic, produce, unique, wait_until


class TestMirrorSource(SourceConformance):
    """Records of a topic of one partition."""

    @pytest.fixture(autouse=True)
    def _use(self, kafka: str) -> None:
        self.kafka = kafka
        self.topic = create_topic(kafka, unique("conformance"))

    def spec(self) -> PluginSpec:
        """Return the mirror source."""
        return load_plugins().find("MirrorSource", CONNECTORS)

    def config(self) -> Mapping[str, str]:
        """Mirror the topic within its cluster, three records at a time."""
        return {
            "source.cluster.alias": "berlin",
            "source.cluster.bootstrap.servers": self.kafka,
            "target.cluster.alias": "paris",
            "target.cluster.bootstrap.servers": self.kafka,
            "topics": self.topic,
            # Other tests of this process may have left heartbeats on the broker.
            "heartbeats.replication.enabled": "false",
            "replication.factor": "1",
            "offset-syncs.topic.replication.factor": "1",
            "consumer.max.poll.records": "3",
        }

    def feed(self, numbers: range) -> Sequence[ConnectValue]:
        """Write records."""
        values = [b"record %d \xff" % number for number in numbers]
        produce(self.kafka, self.topic, values)
        return values


def test_a_topic_of_the_source_that_is_deleted_and_made_anew_is_read_from_its_beginning(
    kafka: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(task_module, "_LOOK_SECONDS", 0.1)
    topic = create_topic(kafka, unique("conformance"))
    config = {
        "source.cluster.alias": "berlin",
        "source.cluster.bootstrap.servers": kafka,
        "target.cluster.bootstrap.servers": kafka,
        "emit.offset-syncs.enabled": "false",
        PARTITIONS: f"{topic}-0",
    }
    task = load_plugins().find("MirrorSource", CONNECTORS).make_task()
    task.initialize(FakeSourceContext(config))
    task.start(config)
    copied: list[object] = []

    def reach(values: Sequence[bytes]) -> None:
        def copied_all() -> bool:
            copied.extend(_values(task.poll()))
            return set(values) <= set(copied)

        wait_until(copied_all, 60, "all that the topic holds")

    try:
        old, new = [b"old %d" % number for number in range(20)], [b"new %d" % number for number in range(40)]
        produce(kafka, topic, old)
        reach(old)
        delete_topic(AdminClient({"bootstrap.servers": kafka}), topic)
        create_topic(kafka, topic)
        produce(kafka, topic, new)
        reach(new)
    finally:
        task.stop()


def _values(batch: SourceBatch | None) -> Sequence[object]:
    return () if batch is None else batch.values
