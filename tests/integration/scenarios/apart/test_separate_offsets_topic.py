"""ExactlyOnceSourceIntegrationTest.testSeparateOffsetsTopic: records and offsets on another Kafka cluster."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from copycat_embedded.broker import EmbeddedKafka
from copycat_testkit.kafka import consume_all, create_topic, unique, wait_until

from tests.integration.scenarios.apart.transactions import offsets_in, once_each
from tests.integration.scenarios.cluster import Cluster
from tests.integration.scenarios.monitors import Monitor
from tests.integration.scenarios.rest import PATIENCE

pytestmark = [pytest.mark.timeout(300), pytest.mark.long]


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Run the other Kafka; gives its address."""
    with EmbeddedKafka(tmp_path_factory.mktemp("other-kafka")) as kafka:
        yield kafka.bootstrap


def test_separate_offsets_topic(kafka: str, other: str, monitor: Monitor, tmp_path: Path) -> None:
    """Offsets land there and are copied; workers without exactly-once go on from them."""
    group = unique("separate")
    topic, offsets = create_topic(other), create_topic(other, config={"cleanup.policy": "compact"})
    config = monitor.source(topic, max_messages="40", messages_per_poll="5") | {
        **{f"{client}.override.bootstrap.servers": other for client in ("producer", "consumer", "admin")},
        "offsets.storage.topic": offsets,
        "exactly.once": "supported",
    }
    settings = {"group.id": group}

    def written(cluster: Cluster, bootstrap: str, where: str, number: int) -> None:
        task = f"{topic}-0"
        wait_until(
            lambda: offsets_in(bootstrap, where, topic)[-1:] == [(task, number)],
            PATIENCE,
            f"{number} in {where}",
        )
        wait_until(
            lambda: (
                cluster.rest.get(f"/connectors/{topic}/offsets")["offsets"]
                == [{"partition": {"task.id": task}, "offset": {"saved": number}}]
            ),
            PATIENCE,
            f"{number} over REST",
        )

    enabled = {"exactly.once.source.support": "enabled"}
    with Cluster(kafka, tmp_path / "enabled", 1, settings | enabled).running() as exact:
        exact.rest.create(topic, config)
        written(exact, other, offsets, 40)
        written(exact, kafka, exact.topic("offsets"), 40)
    once_each(_values(other, topic), 1)
    with Cluster(kafka, tmp_path / "disabled", 1, settings).running() as plain:
        plain.rest.configure(topic, {**config, "max.messages": "70"})
        wait_until(lambda: len(_values(other, topic)) == 70, PATIENCE, "30 records more")
        plain.rest.ok("PUT", f"/connectors/{topic}/stop")
        written(plain, other, offsets, 70)
        written(plain, kafka, plain.topic("offsets"), 70)
    once_each(_values(other, topic), 1)


def _values(bootstrap: str, topic: str) -> list[str]:
    return [(message.value() or b"").decode() for message in consume_all(bootstrap, topic)]
