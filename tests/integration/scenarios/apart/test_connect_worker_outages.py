"""ConnectWorkerIntegrationTest when brokers or topics are away; ConnectorTopicsIntegrationTest untracked.

One worker on a broker of its own, which creates no topics by itself; nor does the worker.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import httpx2
import pytest
from confluent_kafka.admin import AdminClient
from copycat_embedded.broker import EmbeddedKafka
from copycat_embedded.ports import free_ports
from copycat_testkit.kafka import consume_all, create_topic, delete_topic, unique, wait_until

from tests.integration.scenarios.cluster import Cluster
from tests.integration.scenarios.monitors import Monitor
from tests.integration.scenarios.rest import PATIENCE, Rest

pytestmark = [pytest.mark.timeout(300), pytest.mark.long]

SETTINGS = {
    "topic.creation.enable": "false",
    "topic.tracking.enable": "false",
    "rest.request.timeout.ms": "4000",
    "rest.health.timeout.ms": "1000",
    "task.shutdown.graceful.timeout.ms": "2000",
}
UNFIT = "Worker was unable to handle this request and may be unable to handle other requests."


@dataclass(frozen=True)
class Fragile:
    """A system whose broker may be taken away."""

    broker: EmbeddedKafka
    cluster: Cluster

    @property
    def rest(self) -> Rest:
        """The REST interface."""
        return self.cluster.rest


@pytest.fixture(scope="module")
def fragile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fragile]:
    """Run a broker on a fixed port and a worker."""
    folder = tmp_path_factory.mktemp("fragile")
    silent = {"auto.create.topics.enable": "false"}
    with (
        EmbeddedKafka(folder / "kafka", free_ports(1)[0], settings=silent) as broker,
        Cluster(broker.bootstrap, folder / "data", 1, SETTINGS).running() as cluster,
    ):
        yield Fragile(broker, cluster)


def test_source_task_not_blocked_on_shutdown_with_non_existent_topic(
    fragile: Fragile, monitor: Monitor
) -> None:
    """testSourceTaskNotBlockedOnShutdownWithNonExistentTopic: unwritten records hold up no end."""
    name = unique("nowhere")
    fragile.rest.create(name, monitor.source(name))
    fragile.rest.runs(name)
    fragile.rest.delete(name)
    fragile.rest.released(name)
    stopped = {"connector": 1, "task 0": 1}
    wait_until(lambda: monitor.counts("stop") == stopped, PATIENCE, "connector and task stopped")


def test_topic_tracking_is_disabled(fragile: Fragile, monitor: Monitor) -> None:
    """testTopicTrackingIsDisabled: neither shown nor reset nor stored."""
    rest, name = fragile.rest, create_topic(fragile.cluster.bootstrap)
    rest.create(name, monitor.source(name))
    wait_until(lambda: len(fragile.cluster.values(name)) == 10, PATIENCE, "records")
    for method, path in (("GET", "topics"), ("PUT", "topics/reset")):
        reply = rest.call(method, f"/connectors/{name}/{path}")
        assert (reply.status_code, reply.json()["message"]) == (403, "Topic tracking is disabled.")
    stored = consume_all(fragile.cluster.bootstrap, fragile.cluster.topic("status"))
    assert not [message for message in stored if (message.key() or b"").startswith(b"status-topic-")]
    rest.delete(name)


def test_broker_coordinator(fragile: Fragile, monitor: Monitor) -> None:
    """testBrokerCoordinator: without brokers the worker is unfit; with them everything goes on.

    Kafka Connect stops connectors and tasks that lost their coordinator. Here no worker loses its work by an
    outage of the brokers: tasks wait for them with the records they hold.
    """
    rest, name = fragile.rest, create_topic(fragile.cluster.bootstrap)
    rest.create(name, monitor.source(name, max_messages="1000000"))
    rest.runs(name)
    wait_until(lambda: len(fragile.cluster.values(name)) > 10, PATIENCE, "records before")
    fragile.broker.stop()
    wait_until(lambda: rest.call("GET", "/health").status_code == 500, PATIENCE, "an unfit worker")
    assert UNFIT in rest.call("GET", "/health").text
    fragile.broker.start()
    wait_until(lambda: rest.succeeds("/health"), PATIENCE, "a fit worker")
    rest.runs(name)
    there = len(fragile.cluster.values(name))
    wait_until(lambda: len(fragile.cluster.values(name)) > there, PATIENCE, "records after")
    rest.delete(name)


def test_request_timeouts(fragile: Fragile, monitor: Monitor) -> None:
    """testRequestTimeouts: a request that Kafka cannot carry out in time says what it was doing.

    First without brokers, where each request says what it does itself; then without the config topic, where
    all that is asked later is refused at once.
    """
    rest, name = fragile.rest, create_topic(fragile.cluster.bootstrap)
    config = monitor.source(name)
    rest.create(name, config)
    rest.runs(name)
    changed = {**config, "messages.per.poll": "5"}
    writing = f"writing a config for connector {name} to the config topic"
    fragile.broker.stop()
    reply = rest.call("PUT", f"/connectors/{name}/config", changed)
    assert (reply.status_code, "Request timed out." in reply.text) == (500, True)
    reply = rest.call("DELETE", f"/connectors/{name}")
    removing = f"removing the config for connector {name} from the config topic"
    assert (reply.status_code, "Request timed out." in reply.text, removing in reply.text) == (
        500,
        True,
        True,
    )
    fragile.broker.start()
    wait_until(lambda: rest.succeeds("/health"), PATIENCE, "a fit worker")
    wait_until(
        lambda: rest.call("PUT", f"/connectors/{name}/config", changed).is_success, PATIENCE, "a write"
    )

    topic = fragile.cluster.topic("configs")
    admin = AdminClient({"bootstrap.servers": fragile.cluster.bootstrap})
    delete_topic(admin, topic)
    reply = rest.call("PUT", f"/connectors/{name}/config", config)
    assert (reply.status_code, writing in reply.text) == (500, True) or is_lost(reply, topic)
    wait_until(
        lambda: is_lost(rest.call("DELETE", f"/connectors/{name}"), topic), PATIENCE, "the loss is noticed"
    )
    assert rest.get(f"/connectors/{name}/config")["name"] == name, "what is lost can be saved"
    health = rest.call("GET", "/health")
    assert (health.status_code, UNFIT in health.text, topic in health.text) == (500, True, True)


def is_lost(reply: httpx2.Response, topic: str) -> bool:
    """Tell whether a request was refused since a topic is gone."""
    return (reply.status_code, topic in reply.text) == (503, True)
