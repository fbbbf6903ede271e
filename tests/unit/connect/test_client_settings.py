"""Settings of Kafka clients: which cluster a connector means, who asks for its group, logins with tokens."""

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
from copycat_connect.config.login import is_oauth, librdkafka_oauth, login_options, read_oauth
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


MODULE = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required"
ENDPOINT = {"sasl.oauthbearer.token.endpoint.url": "https://login.example/token"}


@pytest.mark.parametrize(
    ("jaas", "options"),
    [
        ('M required username="ann" password="p=1;";', {"username": "ann", "password": "p=1;"}),
        (r'M required password="it\'s \"quoted\" \\";', {"password": 'it\'s "quoted" \\'}),
        ("M required username='ann' useKeyTab=true;", {"username": "ann", "useKeyTab": "true"}),
        ("", {}),
    ],
)
def test_options_are_read_as_java_reads_them(jaas: str, options: dict[str, str]) -> None:
    assert login_options(jaas) == options


@pytest.mark.timeout(60)
@pytest.mark.parametrize("jaas", ["a" * 1_000_000, 'a="' * 300_000, "a=" + '"\\' * 500_000, "a " * 500_000])
def test_a_text_of_a_megabyte_is_read_at_once(jaas: str) -> None:
    login_options(jaas)


def test_options_of_the_module_become_librdkafkas_own() -> None:
    jaas = (
        f'{MODULE} clientId="ann" clientSecret="hidden" scope="kafka" extension_pool="7" extension_zone="b";'
    )
    login = read_oauth({**ENDPOINT, "sasl.jaas.config": jaas})

    assert librdkafka_oauth(login) == {
        "sasl.oauthbearer.method": "oidc",
        "sasl.oauthbearer.token.endpoint.url": "https://login.example/token",
        "sasl.oauthbearer.client.id": "ann",
        "sasl.oauthbearer.client.secret": "hidden",
        "sasl.oauthbearer.scope": "kafka",
        "sasl.oauthbearer.extensions": "pool=7,zone=b",
    }
    assert "hidden" not in repr(login)


def test_keys_may_stand_in_place_of_options() -> None:
    login = read_oauth(
        {
            **ENDPOINT,
            "sasl.jaas.config": f"{MODULE};",
            "sasl.oauthbearer.client.credentials.client.id": "ann",
            "sasl.oauthbearer.client.credentials.client.secret": "hidden",
            "sasl.oauthbearer.scope": "kafka",
        }
    )
    assert (login.client_id, login.client_secret, login.scope) == ("ann", "hidden", "kafka")


@pytest.mark.parametrize(
    ("properties", "says"),
    [
        ({}, "source.sasl.oauthbearer.token.endpoint.url is not set: with sasl.mechanism=OAUTHBEARER write"),
        ({"sasl.oauthbearer.token.endpoint.url": "file:///etc/token"}, "has 'file:///etc/token'"),
        (ENDPOINT, "source.sasl.jaas.config has no clientId, and source.sasl.oauthbearer.client.credentials"),
        (
            {**ENDPOINT, "sasl.jaas.config": f'{MODULE} clientId="a" unsecuredLoginStringClaim_sub="b";'},
            "source.sasl.jaas.config has no clientSecret",
        ),
    ],
)
def test_what_is_missing_is_named(properties: dict[str, str], says: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read_oauth(properties, "source.")
    assert says in caught.value.message


@pytest.mark.parametrize(
    ("protocol", "mechanism", "expected"),
    [("SASL_SSL", "oauthbearer", True), ("SSL", "OAUTHBEARER", False), ("SASL_SSL", "PLAIN", False)],
)
def test_only_who_logs_in_so_needs_it(protocol: str, mechanism: str, expected: bool) -> None:
    assert is_oauth({"security.protocol": protocol, "sasl.mechanism": mechanism}) is expected
