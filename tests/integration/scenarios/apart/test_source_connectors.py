"""SourceConnectorsIntegrationTest: who creates the topics of a source, the broker or the worker (KIP-158)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient
from copycat_testkit.kafka import unique, wait_until

from tests.integration.scenarios.cluster import Cluster
from tests.integration.scenarios.monitors import Monitor
from tests.integration.scenarios.rest import PATIENCE, Rest

pytestmark = [pytest.mark.timeout(300), pytest.mark.long]

PARTITIONS = 9
CREATION = {
    "topic.creation.default.replication.factor": "1",
    "topic.creation.default.partitions": "1",
    "topic.creation.groups": "foo",
    "topic.creation.foo.include": "foo.*",
    "topic.creation.foo.partitions": str(PARTITIONS),
}


class Settled:
    """A group of workers that is started again with other settings."""

    def __init__(self, bootstrap: str, folder: Path) -> None:
        """Nothing runs yet."""
        self._bootstrap, self._folder, self._group = bootstrap, folder, unique("settled")
        self._creation: bool | None = None
        self._running = ExitStack()

    def set(self, *, creation: bool) -> Rest:
        """Have it run with topics created by the workers or not."""
        if creation is not self._creation:
            self.stop()
            settings = {"group.id": self._group, "topic.creation.enable": str(creation).lower()}
            cluster = Cluster(self._bootstrap, self._folder, 1, settings)
            self._rest = self._running.enter_context(cluster.running()).rest
            self._creation = creation
        return self._rest

    def stop(self) -> None:
        """Stop it."""
        self._running.close()


@pytest.fixture(scope="module")
def settled(kafka: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settled]:
    """Give workers that a test starts as it wants them."""
    workers = Settled(kafka, tmp_path_factory.mktemp("settled"))
    yield workers
    workers.stop()


def partitions(bootstrap: str, topic: str) -> int:
    """Return how many partitions a topic has; 0 when there is no such topic."""
    found = AdminClient({"bootstrap.servers": bootstrap}).list_topics(timeout=20).topics
    return len(found[topic].partitions) if topic in found else 0


def becomes(bootstrap: str, topic: str, count: int) -> None:
    """Wait until a topic is there with so many partitions."""
    wait_until(lambda: partitions(bootstrap, topic) == count, PATIENCE, f"{topic} with {count} partitions")


def test_topics_are_created_when_auto_create_topics_is_enabled_at_the_broker(
    kafka: str, settled: Settled, monitor: Monitor
) -> None:
    """testTopicsAreCreatedWhenAutoCreateTopicsIsEnabledAtTheBroker: the broker's way."""
    rest, topic = settled.set(creation=False), unique("foo")
    rest.create(topic, {**monitor.source(topic), **CREATION})
    becomes(kafka, topic, 1)
    rest.runs(topic)


def test_switching_to_topic_creation_enabled(kafka: str, settled: Settled, monitor: Monitor) -> None:
    """testSwitchingToTopicCreationEnabled: the groups count from the restart on; old topics stay."""
    name, first, second = unique("switching"), unique("foo"), unique("foo")
    rest = settled.set(creation=False)
    rest.create(name, {**monitor.source(first), **CREATION})
    becomes(kafka, first, 1)
    rest.runs(name)
    rest = settled.set(creation=True)
    rest.configure(name, {**monitor.source(second, max_messages="20"), **CREATION})
    becomes(kafka, second, PARTITIONS)
    assert partitions(kafka, first) == 1
    rest.runs(name)


def test_topics_are_created_when_topic_creation_is_enabled(
    kafka: str, settled: Settled, tmp_path: Path
) -> None:
    """testTopicsAreCreatedWhenTopicCreationIsEnabled: the groups say how, the default says the rest."""
    rest = settled.set(creation=True)
    for topic, count in ((unique("foo"), PARTITIONS), (unique("bar"), 1)):
        rest.create(topic, {**Monitor(tmp_path / topic).source(topic), **CREATION})
        becomes(kafka, topic, count)
        rest.runs(topic)
