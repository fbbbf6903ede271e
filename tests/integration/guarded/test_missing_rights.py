"""Rights that connectors lack, on a whole system: REST says why a task failed, and the remedy heals it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import ResourceType
from confluent_kafka.cimpl import NewTopic as ClientTopic
from copycat_testkit.kafka import unique, wait_until

from tests.integration.emitting.system import System
from tests.integration.guarded.broker import PASSWORDS, GuardedKafka, client_of, login, overrides
from tests.integration.guarded.conftest import READING, WRITING
from tests.integration.scenarios.rest import PATIENCE

pytestmark = [pytest.mark.timeout(300), pytest.mark.long]


@pytest.fixture
def topic(walls: GuardedKafka) -> str:
    """A topic that the users with rights may use."""
    name = unique("k158")
    walls.admin.create_topics([ClientTopic(name, 1, 1)])[name].result(60)
    return name


def write(walls: GuardedKafka, topic: str, value: bytes, key: bytes | None = None) -> None:
    """Write a record as the admin."""
    producer = Producer({"bootstrap.servers": walls.bootstrap, **client_of("admin")})
    producer.produce(topic, value, key)
    assert producer.flush(60) == 0


def failure(on: System, name: str) -> str:
    """Wait until a connector's task has failed; returns why. No password is shown, there or in a log."""
    on.rest.wait(name, "RUNNING", "FAILED")
    trace: str = on.rest.get(f"/connectors/{name}/status")["tasks"][0]["trace"]
    assert not [word for word in PASSWORDS.values() if word in trace + on.cluster.log("executor")]
    return trace


def principals(walls: GuardedKafka, kind: str, client: str) -> set[str]:
    """Return who a client has been, by the broker's log."""
    return {each["principal"] for each in walls.requests(kind, client)}


def restart(on: System, name: str) -> None:
    """Restart what has failed."""
    on.rest.ok("POST", f"/connectors/{name}/restart?includeTasks=true&onlyFailed=true")
    on.rest.runs(name)


def test_a_source_that_may_not_write_says_so_and_writes_as_somebody_who_may(
    on: System, walls: GuardedKafka, topic: str
) -> None:
    name = on.emitter("", topic)

    trace = failure(on, name)
    on.rest.configure(name, {**on.emitter_config(name), **overrides(producer="alice")})

    assert f"A record could not be written to topic {topic}: the producer may not write to it" in trace
    assert "producer.override.sasl.jaas.config, and restart the task" in trace
    on.has_topics(name, topic)
    wait_until(
        lambda: "User:alice" in principals(walls, "PRODUCE", f"connector-producer-{name}-0"),
        PATIENCE,
        "a record that alice wrote",
    )


def test_a_source_whose_right_is_taken_away_fails_and_goes_on_when_it_is_given_back(
    on: System, walls: GuardedKafka, topic: str
) -> None:
    walls.allow("carol", ResourceType.TOPIC, topic, *WRITING)
    name = on.emitter("", topic)
    on.has_topics(name, topic)

    walls.forbid("carol", ResourceType.TOPIC, topic, *WRITING)
    on.emit(name, topic)
    trace = failure(on, name)
    walls.allow("carol", ResourceType.TOPIC, topic, *WRITING)
    restart(on, name)

    assert f"topic {topic}: the producer may not write to it" in trace
    file = on.folder / f"{name}-0"
    written = [{"partition": {"file": str(file)}, "offset": {"position": file.stat().st_size}}]
    wait_until(
        lambda: on.rest.get(f"/connectors/{name}/offsets")["offsets"] == written, PATIENCE, "both records"
    )


def test_a_sink_without_rights_says_so_and_reads_as_somebody_who_has_them(
    on: System, walls: GuardedKafka, topic: str
) -> None:
    write(walls, topic, b"one")
    name = on.sink(unique("sink"), topics=topic)

    trace = failure(on, name)
    on.sink(name, topics=topic, consumer__override__sasl__jaas__config=login("dave"))

    assert "consumer.override.sasl.jaas.config" in trace
    assert topic in trace
    assert "and restart the task" in trace
    wait_until(lambda: lines(on, name) == ["one"], PATIENCE, "the record")


def test_a_sink_whose_right_is_taken_away_fails_and_misses_nothing_when_it_is_given_back(
    on: System, walls: GuardedKafka, topic: str
) -> None:
    walls.allow("carol", ResourceType.TOPIC, topic, *READING)
    name = unique("k158-sink")
    walls.allow("carol", ResourceType.GROUP, f"connect-{name}", *READING)
    write(walls, topic, b"one")
    on.sink(name, topics=topic)
    wait_until(lambda: lines(on, name) == ["one"], PATIENCE, "the first record")

    walls.forbid("carol", ResourceType.TOPIC, topic, *READING)
    write(walls, topic, b"two")
    trace = failure(on, name)
    walls.allow("carol", ResourceType.TOPIC, topic, *READING)
    restart(on, name)

    assert f"Cannot read {topic}-0: the consumer may not read it" in trace
    assert "consumer.override.sasl.jaas.config, and restart the task" in trace
    wait_until(lambda: lines(on, name)[-1:] == ["two"], PATIENCE, "the second record")


def test_a_configuration_that_came_past_the_policy_fails_its_task(
    on: System, walls: GuardedKafka, topic: str
) -> None:
    name = unique("smuggled")
    config = {
        **on.emitter_config(name),
        "name": name,
        **overrides(producer="alice"),
        "producer.override.acks": "1",
    }
    value = json.dumps({"properties": config}).encode()
    write(walls, on.cluster.topic("configs"), value, f"connector-{name}".encode())
    on.emit(name, topic)

    trace = failure(on, name)
    on.rest.configure(name, {key: value for key, value in config.items() if not key.endswith("acks")})

    assert "The 'Principal' policy does not allow 'acks' to be overridden" in trace
    assert "Remove producer.override.acks, or change connector.client.config.override.policy" in trace
    on.has_topics(name, topic)


def lines(on: System, name: str) -> list[str]:
    """Return what a sink has written."""
    file = Path(on.folder / f"{name}.out")
    return file.read_text().splitlines() if file.exists() else []
