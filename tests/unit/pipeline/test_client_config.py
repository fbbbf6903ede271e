"""Which settings Kafka clients get."""

import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient
from copycat_connect.config.client_names import ADMIN, CONSUMER, PRODUCER
from copycat_connect.config.setting import Type
from copycat_connect.errors import ConfigError
from copycat_connect.validation.parts import Client, client_definition
from copycat_executor.kafka.client_config import admin_config, consumer_config, producer_config

WORKER = {"bootstrap.servers": "k:9092"}


def test_a_producer_waits_for_all_replicas_and_keeps_the_order() -> None:
    properties = producer_config(WORKER, {}, "p").properties

    assert properties["acks"] == "all"
    assert properties["max.in.flight.requests.per.connection"] == "1"
    assert properties["enable.idempotence"] == "false"
    assert properties["delivery.timeout.ms"] == "2147483647"
    assert properties["bootstrap.servers"] == "k:9092"
    assert properties["client.id"] == "p"


def test_keys_are_placed_as_java_places_them_whatever_a_user_says() -> None:
    config = producer_config(WORKER, {"producer.override.partitioner": "random"}, "p")

    assert config.properties["partitioner"] == "murmur2_random"
    assert config.unknown == ("partitioner",)


def test_a_connector_overrules_the_worker_and_the_worker_the_defaults() -> None:
    worker = {**WORKER, "producer.linger.ms": "7", "producer.acks": "1"}

    properties = producer_config(worker, {"producer.override.linger.ms": "20"}, "p").properties

    assert properties["linger.ms"] == "20"
    assert properties["acks"] == "1"


def test_the_workers_own_settings_are_not_its_connectors() -> None:
    properties = producer_config({**WORKER, "security.protocol": "SSL"}, {}, "p").properties

    assert "security.protocol" not in properties


def test_the_login_of_the_embedded_kafka_is_not_sent_to_other_brokers() -> None:
    login = {"security.protocol": "SASL_PLAINTEXT", "sasl.jaas.config": 'Plain required password="word";'}
    own = {
        f"{client}{key}": value for client in ("", "producer.", "consumer.") for key, value in login.items()
    }
    worker = {**WORKER, "embedded.bootstrap.servers": "k:9093", **own}
    kinds = ("producer", "consumer", "admin")
    away = {f"{kind}.override.bootstrap.servers": "away:1" for kind in kinds}

    def made(connector: dict[str, str]) -> list[dict[str, str]]:
        configs = (
            producer_config(worker, connector, "p"),
            consumer_config(worker, connector, "c", "g"),
            admin_config(worker, connector, "a"),
            admin_config(worker, connector, "a", as_producer=True),
        )
        return [each.properties for each in configs]

    assert [each["sasl.password"] for each in made({})] == ["word"] * 4
    assert not [each for each in made(away) if "sasl.password" in each or "security.protocol" in each]


@pytest.mark.parametrize(
    ("policy", "key", "allowed"),
    [
        (None, "producer.override.linger.ms", True),
        ("None", "producer.override.linger.ms", False),
        ("None", "admin.override.sasl.jaas.config", False),
        ("Principal", "consumer.override.sasl.mechanism", True),
        ("Principal", "consumer.override.fetch.max.bytes", False),
    ],
)
def test_a_connector_overrides_only_what_the_policy_allows_when_it_starts(
    policy: str | None, key: str, allowed: bool
) -> None:
    worker = {**WORKER, "connector.client.config.override.policy": policy}

    def made() -> None:
        producer_config(worker, {key: "1"}, "p")
        consumer_config(worker, {key: "1"}, "c", "g")
        admin_config(worker, {key: "1"}, "a")

    if allowed:
        made()
    else:
        with pytest.raises(ConfigError, match=f"Remove {key}, or change connector.client.config.override"):
            made()


@pytest.mark.parametrize(
    ("java", "native"),
    [
        (("buffer.memory", "33554432"), ("queue.buffering.max.kbytes", "32768")),
        (("batch.size", "0"), ("batch.size", "1")),
        (("max.request.size", "2000000"), ("message.max.bytes", "2000000")),
        (("send.buffer.bytes", "-1"), ("socket.send.buffer.bytes", "0")),
        (("ssl.endpoint.identification.algorithm", ""), ("ssl.endpoint.identification.algorithm", "none")),
        (("ssl.cipher.suites", "A, B"), ("ssl.cipher.suites", "A:B")),
    ],
)
def test_java_settings_are_said_in_the_words_of_librdkafka(
    java: tuple[str, str], native: tuple[str, str]
) -> None:
    properties = producer_config(WORKER, {f"producer.override.{java[0]}": java[1]}, "p").properties

    assert properties[native[0]] == native[1]


def test_settings_that_say_nothing_here_are_dropped_without_a_word() -> None:
    overrides = {"producer.override.max.block.ms": "1", "producer.override.key.serializer": "x"}

    config = producer_config(WORKER, overrides, "p")

    assert config.unknown == ()
    assert not {"max.block.ms", "key.serializer"} & config.properties.keys()


def test_a_setting_nobody_knows_is_dropped_and_named() -> None:
    config = producer_config(WORKER, {"producer.override.colour": "blue"}, "p")

    assert config.unknown == ("colour",)
    assert "colour" not in config.properties


def test_a_number_that_is_none_is_refused_by_name() -> None:
    with pytest.raises(ConfigError, match=r"Invalid value big for configuration batch\.size"):
        producer_config(WORKER, {"producer.override.batch.size": "big"}, "p")


def test_a_login_module_becomes_a_name_and_a_password() -> None:
    jaas = (
        'org.apache.kafka.common.security.scram.ScramLoginModule required username="ann" password="p\\"w;=x";'
    )
    overrides = {
        "consumer.override.sasl.jaas.config": jaas,
        "consumer.override.sasl.mechanism": "SCRAM-SHA-512",
    }

    properties = consumer_config(WORKER, overrides, "c", "g").properties

    assert properties["sasl.username"] == "ann"
    assert properties["sasl.password"] == 'p"w;=x'
    assert properties["sasl.mechanism"] == "SCRAM-SHA-512"
    assert "sasl.jaas.config" not in properties


def test_pem_stores_are_used_and_java_key_stores_are_named_as_unknown() -> None:
    pem = {
        "admin.ssl.truststore.type": "PEM",
        "admin.ssl.truststore.location": "/ca.pem",
        "admin.ssl.keystore.location": "/store.jks",
    }

    config = admin_config({**WORKER, **pem}, {}, "a")

    assert config.properties["ssl.ca.location"] == "/ca.pem"
    assert config.unknown == ("ssl.keystore.location",)


def test_a_consumer_reads_all_from_the_beginning_and_commits_nothing() -> None:
    properties = consumer_config(
        WORKER, {"consumer.override.enable.auto.commit": "true"}, "c", "g"
    ).properties

    assert properties["auto.offset.reset"] == "earliest"
    assert properties["isolation.level"] == "read_uncommitted"
    assert properties["enable.auto.commit"] == "false"
    assert properties["group.id"] == "g"
    assert properties["fetch.queue.backoff.ms"] == "2"


def test_a_consumer_reads_in_the_group_where_the_sinks_positions_are_committed() -> None:
    worker = {**WORKER, "consumer.group.id": "of-all-sinks"}

    config = consumer_config(worker, {"consumer.override.group.id": " mine "}, "c", "mine")

    assert config.properties["group.id"] == "mine"


def test_a_small_fetch_lowers_the_largest_message() -> None:
    properties = consumer_config(WORKER, {"consumer.override.fetch.max.bytes": "5000"}, "c", "g").properties

    assert properties["fetch.max.bytes"] == "5000"
    assert properties["message.max.bytes"] == "5000"


#: Java's clients refuse less: of the first as many as it may be, of the second linger and a request's time.
LEAST = {"max.in.flight.requests.per.connection": 1, "delivery.timeout.ms": 30_005}
#: To Java -1 is the system's default, or never.
UNSET = {"connections.max.idle.ms", "send.buffer.bytes", "receive.buffer.bytes"}
NAMES = {Client.PRODUCER: PRODUCER, Client.CONSUMER: CONSUMER, Client.ADMIN: ADMIN}


def make(client: Client, given: dict[str, str]) -> None:
    match client:
        case Client.PRODUCER:
            Producer(producer_config(WORKER, given, "p").properties)
        case Client.CONSUMER:
            Consumer(consumer_config(WORKER, given, "c", "g").properties).close()
        case Client.ADMIN:
            AdminClient({**admin_config(WORKER, given, "a").properties})


@pytest.mark.parametrize("client", Client, ids=lambda each: each.name.lower())
def test_every_number_that_kafkas_clients_take_makes_a_client(client: Client) -> None:
    keys = client_definition(client).keys
    numbers = [
        keys[name] for name in NAMES[client] if name in keys and keys[name].type in (Type.INT, Type.LONG)
    ]
    assert numbers
    for key in numbers:
        most = 2**31 - 1 if key.type is Type.INT else 2**63 - 1
        least = -1 if key.name in UNSET else LEAST.get(key.name, 0)
        for number in (least, most):
            make(client, {f"{client.value}{key.name}": str(number)})


ROUND_ROBIN = "org.apache.kafka.clients.producer.RoundRobinPartitioner"


@pytest.mark.parametrize(
    ("prefix", "name", "value"),
    [
        ("producer.", "partitioner.class", "com.example.ByRegion"),
        ("producer.", "interceptor.classes", f"{ROUND_ROBIN},com.example.Encrypt"),
        ("consumer.", "interceptor.classes", "com.example.Decrypt"),
        ("consumer.", "auto.offset.reset", "oldest"),
        ("consumer.", "auto.offset.reset", "by_duration:1h"),
        ("consumer.", "auto.offset.reset", "by_duration:-PT1H"),
        ("consumer.", "auto.offset.reset", "by_duration:PT"),
        ("consumer.", "auto.offset.reset", "by_duration:P"),
        ("consumer.", "auto.offset.reset", ""),
    ],
)
@pytest.mark.parametrize("whose", ["worker", "connector"])
def test_what_says_where_records_go_and_cannot_be_honoured_is_refused_by_its_key(
    prefix: str, name: str, value: str, whose: str
) -> None:
    key = f"{prefix}{name}" if whose == "worker" else f"{prefix}override.{name}"
    worker, connector = (WORKER | {key: value}, {}) if whose == "worker" else (WORKER, {key: value})
    with pytest.raises(ConfigError, match=f"Invalid value {value} for configuration {key}: ") as refused:
        producer_config(worker, connector, "p")
        consumer_config(worker, connector, "c", "g")
    assert refused.value.fields["key"] == key


@pytest.mark.parametrize(
    ("value", "native"),
    [
        ("by_duration:PT1H", "earliest"),
        ("BY_DURATION:p1dt2h3m4.5s", "earliest"),
        ("by_duration:P2D", "earliest"),
        ("Latest", "latest"),
        ("none", "error"),
    ],
)
def test_where_kafkas_consumers_may_begin_makes_a_client(value: str, native: str) -> None:
    config = consumer_config(WORKER, {"consumer.override.auto.offset.reset": value}, "c", "g")

    assert config.properties["auto.offset.reset"] == native
    Consumer(config.properties).close()


@pytest.mark.parametrize(
    ("settings", "partitioner"),
    [
        ({}, "murmur2_random"),
        ({"partitioner.class": ROUND_ROBIN}, "murmur2_random"),
        ({"partitioner.class": "org.apache.kafka.clients.producer.UniformStickyPartitioner"}, "random"),
        ({"partitioner.ignore.keys": "true"}, "random"),
        ({"partitioner.ignore.keys": "false"}, "murmur2_random"),
    ],
)
def test_keys_count_unless_a_user_says_otherwise(settings: dict[str, str], partitioner: str) -> None:
    overrides = {f"producer.override.{key}": value for key, value in settings.items()}

    config = producer_config(WORKER, overrides, "p")

    assert config.properties["partitioner"] == partitioner
    assert config.unknown == ()


def test_interceptors_that_only_watch_are_left_out_and_named() -> None:
    watching = "io.confluent.monitoring.clients.interceptor.MonitoringProducerInterceptor"

    config = producer_config(WORKER, {"producer.override.interceptor.classes": watching}, "p")

    assert config.unknown == ("interceptor.classes",)


def test_a_store_that_is_a_device_is_refused_by_name() -> None:
    given = {"ssl.truststore.type": "PEM", "ssl.truststore.location": "/dev/zero"}
    with pytest.raises(ConfigError, match=r"ssl\.truststore\.location has '/dev/zero'.*no regular file"):
        consumer_config(WORKER, {f"consumer.override.{key}": value for key, value in given.items()}, "c", "g")
