"""Client overrides (KIP-458) as the broker sees them."""

from __future__ import annotations

from typing import Any

from confluent_kafka.cimpl import NewTopic as ClientTopic
from copycat_testkit.kafka import unique, wait_until

from tests.integration.emitting.bench import Bench
from tests.integration.guarded.broker import SECURE, GuardedKafka, login, overrides, secure, sink_of
from tests.integration.kip158.keys import DEFAULT

SECONDS = 60.0


def first(walls: GuardedKafka, kind: str, client: str) -> Any:
    """Wait until a client has asked for something; returns what the broker wrote down of it."""
    return wait_until(lambda: walls.requests(kind, client), SECONDS, f"{kind} of {client}")[0]


def test_a_sources_overrides_reach_its_producer_and_its_admin_client(
    walls: GuardedKafka, guarded: Bench
) -> None:
    name = unique("k158")
    config = {
        **DEFAULT,
        **secure("producer"),
        **secure("admin"),
        **overrides(producer="alice", admin="bob"),
        "producer.override.client.id": f"writer-of-{name}",
        "producer.override.acks": "1",
        "producer.override.request.timeout.ms": "12345",
        "admin.override.client.id": f"creator-of-{name}",
    }

    guarded.run(name, config=config)

    created = first(walls, "CREATE_TOPICS", f"creator-of-{name}")
    assert (created["principal"], created["request"]["topics"][0]["name"]) == ("User:bob", name)
    written = first(walls, "PRODUCE", f"writer-of-{name}")
    assert (written["principal"], written["request"]["topicData"][0]["name"]) == ("User:alice", name)
    assert (written["request"]["acks"], written["request"]["timeoutMs"]) == (1, 12345)


def test_a_sinks_overrides_reach_its_consumer(walls: GuardedKafka, guarded: Bench) -> None:
    name = unique("k158")
    guarded.admin.create_topics([ClientTopic(name, 1, 1)])[name].result(60)
    config = {
        **sink_of(name, guarded.folder, "admin"),
        "consumer.override.client.id": f"reader-of-{name}",
        "consumer.override.isolation.level": "read_committed",
        "consumer.override.fetch.max.wait.ms": "77",
        "consumer.override.fetch.max.bytes": "54321",
    }

    guarded.executor.start("host", config, {name: 1})

    fetched = first(walls, "FETCH", f"reader-of-{name}")
    assert fetched["principal"] == "User:admin"
    asked = fetched["request"]
    assert (asked["isolationLevel"], asked["maxWaitMs"], asked["maxBytes"]) == (1, 77, 54321)


def test_without_overrides_clients_are_named_after_their_task(walls: GuardedKafka, guarded: Bench) -> None:
    name = unique("k158")
    worker = {**SECURE, "sasl.jaas.config": login("admin"), **{f"producer.{k}": v for k, v in SECURE.items()}}

    guarded.run(
        config={**DEFAULT, "name": name},
        worker={**worker, "producer.sasl.jaas.config": login("admin")},
        file=guarded.emit(guarded.folder / name, name),
    )

    assert first(walls, "CREATE_TOPICS", f"connector-adminclient-{name}-0")["principal"] == "User:admin"
    assert first(walls, "PRODUCE", f"connector-producer-{name}-0")["principal"] == "User:admin"
