"""One system with three workers for all scenarios of this very folder, and another Kafka cluster."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import ConsumerGroupTopicPartitions, Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic
from copycat_embedded.broker import EmbeddedKafka

from tests.integration.guarded.broker import SECURE, SETTINGS, client_of, login
from tests.integration.scenarios.cluster import Cluster
from tests.integration.scenarios.monitors import Monitor
from tests.integration.scenarios.rest import PATIENCE, Rest

#: More than the workers have at home: a topic of the same name is there, too.
PARTITIONS = 4


class OtherCluster:
    """Brokers that no worker knows, seen by their administrator."""

    def __init__(self, bootstrap: str, folder: Path) -> None:
        """Write what connectors refer to by placeholders."""
        self.client = {"bootstrap.servers": bootstrap, **client_of("admin")}
        self.admin = AdminClient({**self.client})
        self._secrets = folder / "secrets.properties"
        self._secrets.write_text(f"servers={bootstrap}\nlogin={login('admin')}\n")

    def overrides(self, client: str) -> dict[str, str]:
        """Return a connector's keys that have one of its clients work here."""
        given = {
            **SECURE,
            "bootstrap.servers": f"${{file:{self._secrets}:servers}}",
            "sasl.jaas.config": f"${{file:{self._secrets}:login}}",
        }
        return {f"{client}.override.{key}": value for key, value in given.items()}

    def fill(self, topic: str, records: int) -> None:
        """Make a topic and write so many records to every partition."""
        self.admin.create_topics([NewTopic(topic, PARTITIONS, 1)])[topic].result(PATIENCE)
        producer = Producer({**self.client, "enable.idempotence": True})
        for partition in range(PARTITIONS):
            for number in range(records):
                producer.produce(topic, b"%d" % number, partition=partition)
        assert producer.flush(PATIENCE) == 0

    def committed(self, group: str) -> dict[int, int]:
        """Return the committed offsets of a group, by partition."""
        return committed(self.admin, group)


def committed(admin: AdminClient, group: str) -> dict[int, int]:
    """Return the committed offsets of a group, by partition."""
    found = admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)])[group].result(PATIENCE)
    return {each.partition: each.offset for each in found.topic_partitions if each.offset >= 0}


WORKERS = 3


@pytest.fixture(scope="package")
def cluster(kafka: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Run three workers; a test that takes one away brings it back."""
    settings = {
        "task.shutdown.graceful.timeout.ms": "2000",
        "task.progress.timeout.ms": "2000",
        "metadata.refresh.interval.ms": "500",
        "config.providers": "file",
        "config.providers.file.class": "org.apache.kafka.common.config.provider.FileConfigProvider",
    }
    with Cluster(kafka, tmp_path_factory.mktemp("scenarios"), WORKERS, settings).running() as running:
        yield running


@pytest.fixture
def rest(cluster: Cluster) -> Iterator[Rest]:
    """Drive connectors; what a test leaves behind is deleted."""
    yield cluster.rest
    cluster.rest.clean()


@pytest.fixture
def monitor(tmp_path: Path) -> Monitor:
    """Watch one connector."""
    return Monitor(tmp_path / "monitor")


@pytest.fixture(scope="package")
def other(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OtherCluster]:
    """Run another Kafka cluster."""
    folder = tmp_path_factory.mktemp("other-cluster")
    with EmbeddedKafka(folder / "kafka", settings=SETTINGS) as kafka:
        yield OtherCluster(kafka.bootstrap, folder)
