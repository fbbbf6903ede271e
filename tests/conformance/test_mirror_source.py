"""The mirror source passes the suite every source passes; one broker is both clusters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from copycat_connect.data import ConnectValue
from copycat_connect.plugin import CONNECTORS, PluginSpec, load_plugins
from copycat_testkit.conformance import SourceConformance
from copycat_testkit.kafka import create_topic, produce, unique


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
