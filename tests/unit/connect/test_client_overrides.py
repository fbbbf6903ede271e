"""Which cluster a sink reads, and who asks for its group."""

from __future__ import annotations

import pytest
from copycat_connect.config.client_overrides import (
    EMBEDDED_SERVERS,
    admin_client,
    check_overrides,
    group_client,
    other_cluster,
    overrides_of,
)
from copycat_connect.config.offsets_store import primary_topic, worker_client_keys
from copycat_connect.errors import ConfigError
from copycat_connect.plugin import load_plugins
from copycat_connect.validation import WorkerRules, connector_plugin, validate_connector

PLUGINS = load_plugins()
PRODUCERS = "org.apache.kafka.clients.producer"
CONVERTERS = {
    f"{each}.converter": "org.apache.kafka.connect.storage.StringConverter" for each in ("key", "value")
}
SOURCE = {"name": "a", "connector.class": "FileStreamSource", "topic": "t", **CONVERTERS}
SINK = {"name": "a", "connector.class": "FileStreamSink", "topics": "t", **CONVERTERS}

WORKER = {"bootstrap.servers": "home:1", "security.protocol": "SSL", "group.id": "connect", "tasks.max": "1"}
AWAY = {"consumer.override.bootstrap.servers": "away:1"}


@pytest.mark.parametrize(
    ("worker", "connector"),
    [
        ({}, {}),
        ({}, {"consumer.override.group.id": "g", "consumer.override.security.protocol": "SASL_SSL"}),
        ({}, {"consumer.override.bootstrap.servers": "home:1"}),
        ({"consumer.bootstrap.servers": "away:1"}, {"consumer.override.bootstrap.servers": "home:1"}),
    ],
)
def test_a_sink_of_the_workers_brokers_is_of_its_cluster(
    worker: dict[str, str], connector: dict[str, str]
) -> None:
    assert other_cluster(WORKER | worker, connector) is None
    assert group_client(WORKER | worker, connector) is None


def test_another_cluster_is_reached_as_the_consumer_says_and_not_as_the_worker_does() -> None:
    worker = WORKER | {"consumer.sasl.mechanism": "PLAIN", "consumer.ssl.key.password": "worker's"}
    connector = AWAY | {
        "consumer.override.ssl.key.password": "${file:a:b}",
        "consumer.override.group.id": "g",
    }
    expected = {"bootstrap.servers": "away:1", "sasl.mechanism": "PLAIN", "ssl.key.password": "${file:a:b}"}
    assert other_cluster(worker, connector) == expected
    assert group_client(worker, connector) == expected


def test_a_workers_own_consumers_may_read_another_cluster() -> None:
    worker = WORKER | {"consumer.bootstrap.servers": "away:1"}
    assert other_cluster(worker, {}) == {"bootstrap.servers": "away:1"}


def test_overrides_of_the_admin_client_come_last() -> None:
    admin = {"admin.override.bootstrap.servers": "third:1", "admin.override.request.timeout.ms": "500"}
    asked = {"bootstrap.servers": "third:1", "request.timeout.ms": "500"}
    assert group_client(WORKER, admin) == {"security.protocol": "SSL", **asked}
    assert group_client(WORKER, AWAY | admin) == asked


def test_the_overrides_of_a_connector_are_those_of_the_clients_asked_for() -> None:
    config = {"name": "a", **AWAY, "admin.override.client.id": "b", "producer.override.acks": "1"}
    assert overrides_of(config, ("consumer.override.",)) == AWAY
    assert overrides_of(config) == {**AWAY, "admin.override.client.id": "b"}


def test_a_connectors_admin_client_is_the_workers_until_something_says_otherwise() -> None:
    assert admin_client({}, {}) == {"bootstrap.servers": "localhost:9092"}
    worker = {**WORKER, "admin.sasl.mechanism": "PLAIN", "admin.security.protocol": "SASL_SSL"}
    connector = {
        "admin.override.sasl.mechanism": "SCRAM-SHA-256",
        "admin.override.retries": "1",
        "producer.override.bootstrap.servers": "away:1",
    }

    assert admin_client(worker, {}) == {
        "bootstrap.servers": "home:1",
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "PLAIN",
    }
    assert admin_client(worker, connector)["sasl.mechanism"] == "SCRAM-SHA-256"
    assert admin_client(worker, connector).keys() == {
        "bootstrap.servers",
        "security.protocol",
        "sasl.mechanism",
    }


def test_overrides_are_checked_against_the_workers_policy_and_the_refusal_names_the_key() -> None:
    worker = {"connector.client.config.override.policy": "Principal"}
    overrides = {"admin.override.sasl.mechanism": "PLAIN", "consumer.override.group.id": "secret"}

    check_overrides({}, overrides)
    with pytest.raises(ConfigError, match=r"Remove consumer\.override\.group\.id, or change") as refused:
        check_overrides(worker, overrides)
    assert "secret" not in str(refused.value)


LOGIN = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN", "sasl.jaas.config": "ours"}
EMBEDDED = {
    "bootstrap.servers": "home:1",
    "embedded.bootstrap.servers": "home:2",
    **{f"{client}{key}": value for client in ("", "producer.", "consumer.") for key, value in LOGIN.items()},
}


@pytest.mark.parametrize("there", ["away:1", "home:2"])
def test_the_login_of_the_embedded_kafka_goes_nowhere_else(there: str) -> None:
    away = {f"{kind}.override.bootstrap.servers": there for kind in ("producer", "consumer", "admin")} | {
        "offsets.storage.topic": "mine"
    }
    anonymous = {"bootstrap.servers": there}
    topic = primary_topic(EMBEDDED, away)

    assert other_cluster(EMBEDDED, away) == anonymous
    assert group_client(EMBEDDED, away) == anonymous
    assert group_client(EMBEDDED, {"admin.override.bootstrap.servers": there}) == anonymous
    assert admin_client(EMBEDDED, away) == anonymous
    assert [topic.producer, topic.consumer, topic.admin] == [anonymous] * 3
    assert other_cluster(EMBEDDED | {"consumer.bootstrap.servers": there}, {}) == anonymous


def test_a_login_for_other_brokers_is_the_connectors_or_the_operators() -> None:
    theirs = {"sasl.jaas.config": "theirs", "security.protocol": "SASL_PLAINTEXT"}
    connector = AWAY | {f"consumer.override.{key}": value for key, value in theirs.items()}
    operator = EMBEDDED | {"consumer.sasl.jaas.config": "theirs"}

    assert other_cluster(EMBEDDED, connector) == {"bootstrap.servers": "away:1", **theirs}
    assert other_cluster(operator, AWAY) == {"bootstrap.servers": "away:1", **LOGIN, **theirs}


def test_at_home_clients_log_in_to_the_embedded_kafka() -> None:
    topic = primary_topic(worker_client_keys(EMBEDDED), {"offsets.storage.topic": "mine"})

    assert group_client(EMBEDDED, {}) is None
    assert admin_client(EMBEDDED, {}) == {"bootstrap.servers": "home:1", **LOGIN}
    assert topic.producer == topic.consumer == topic.admin == {"bootstrap.servers": "home:1", **LOGIN}
    assert EMBEDDED_SERVERS in worker_client_keys(EMBEDDED)


@pytest.mark.parametrize(
    ("kind", "setting", "value", "valid"),
    [
        (SINK, "consumer.override.auto.offset.reset", "by_duration:PT1H", True),
        (SINK, "consumer.override.auto.offset.reset", "oldest", False),
        (SINK, "consumer.override.interceptor.classes", "com.example.Decrypt", False),
        (SOURCE, "producer.override.partitioner.class", f"{PRODUCERS}.RoundRobinPartitioner", True),
        (SOURCE, "producer.override.partitioner.class", "com.example.ByRegion", False),
        (SOURCE, "producer.override.interceptor.classes", "com.example.Encrypt", False),
        (SOURCE, "producer.override.interceptor.classes", "", True),
        (SOURCE, "producer.override.colour", "blue", True),
    ],
)
def test_client_settings_that_would_change_where_data_goes_are_refused(
    kind: dict[str, str], setting: str, value: str, valid: bool
) -> None:
    config = {**kind, setting: value}
    spec = connector_plugin(config, PLUGINS)
    found = validate_connector(config, spec, PLUGINS, WorkerRules.of({}), spec.make())
    errors = {info.name: info.value.errors for info in found.infos if info.value.errors}

    assert set(errors) == (set() if valid else {setting})
    assert all(
        text.startswith(f"Invalid value {value} for configuration {setting}: ")
        for text in errors.get(setting, ())
    )
