"""Worker properties that nobody reads are named, with what was probably meant; correct files pass."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest
from copycat_connect.config import ConfigDef
from copycat_connect.config.properties import parse_properties
from copycat_connect.config.worker_keys import BROKER_DATA_DIR
from copycat_eventlog.worker_properties import LogTopic
from copycat_launcher.misspelt import SERVICES_SSL, warnings_about
from copycat_launcher.roles import SERVICES, Role
from copycat_launcher.worker_properties import standalone_properties, up_properties
from copycat_rpc.tls import KEYS

COMPOSE = Path(__file__).parents[3] / "deploy" / "compose"
#: Every key of connect-distributed.properties and connect-standalone.properties as Kafka 4.3 ships them,
#: those in comments included.
SHIPPED = [
    "bootstrap.servers",
    "group.id",
    "key.converter",
    "value.converter",
    "key.converter.schemas.enable",
    "value.converter.schemas.enable",
    "offset.storage.topic",
    "offset.storage.replication.factor",
    "offset.storage.partitions",
    "config.storage.topic",
    "config.storage.replication.factor",
    "status.storage.topic",
    "status.storage.replication.factor",
    "status.storage.partitions",
    "offset.flush.interval.ms",
    "listeners",
    "rest.advertised.host.name",
    "rest.advertised.port",
    "rest.advertised.listener",
    "plugin.path",
    "offset.storage.file.filename",
]


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("offset.flush.intervall.ms", "offset.flush.interval.ms"),
        ("Group.id", "group.id"),
        ("offset.storage.partitons", "offset.storage.partitions"),
        ("config.storage.replication.facter", "config.storage.replication.factor"),
        ("status.storage.min.insync.replica", "status.storage.min.insync.replicas"),
        ("services.ssl.keystore.locaton", "services.ssl.keystore.location"),
        ("listeners.https.ssl.keystore.pasword", "listeners.https.ssl.keystore.password"),
        ("admin.listeners.https.ssl.keystore.locaton", "admin.listeners.https.ssl.keystore.location"),
        ("scheduler.adresses", "scheduler.addresses"),
        ("executor.advertized.address", "executor.advertised.address"),
        ("rest.request.timout.ms", "rest.request.timeout.ms"),
        ("status.storage.retry.max.retrys", "status.storage.retry.max.retries"),
        ("key.convertor", "key.converter"),
        ("security.protocoll", "security.protocol"),
        ("log.levl", "log.level"),
        ("otel.exporter.otlp.endpont", "otel.exporter.otlp.endpoint"),
    ],
)
def test_a_misspelt_property_is_named_with_what_was_probably_meant(key: str, meant: str) -> None:
    (warning,) = warnings_about({key: "a secret"})

    assert warning == f"{key} is not a worker property and has no effect; did you mean {meant}?"


def test_a_property_like_no_other_is_named_alone() -> None:
    assert warnings_about({"colour": "red"}) == ["colour is not a worker property and has no effect"]


def test_rest_extensions_may_have_keys_of_their_own_but_misspelt_ones_are_named() -> None:
    extended = {"rest.extension.classes": "com.example.Guard", "guard.realm": "x", "grup.id": "y"}

    (warning,) = warnings_about(extended)

    assert "did you mean group.id?" in warning


def test_keys_of_clients_plugins_and_spark_are_not_looked_at() -> None:
    keys = ("producer.acks", "consumer.fetch.min.bytes", "admin.retries", "spark.executor.memory",
            "key.converter.schema.registry.url", "config.providers.file.param.allowed.paths",
            "sasl.oauthbearer.token.endpoint.url", "metrics.context.site")  # fmt: skip
    assert warnings_about(dict.fromkeys(keys, "x")) == []


def test_a_misspelt_setting_of_a_client_is_named_with_what_was_probably_meant() -> None:
    keys = ("consumer.auto.ofset.reset", "producer.partitionr.class", "producer.schema.registry.url")
    assert warnings_about(dict.fromkeys(keys, "a secret")) == [
        f"{key} is not a setting of a Kafka client and has no effect; did you mean {meant}?"
        for key, meant in (
            ("producer.partitionr.class", "producer.partitioner.class"),
            ("consumer.auto.ofset.reset", "consumer.auto.offset.reset"),
        )
    ]


def test_the_files_that_kafka_ships_pass_without_a_warning() -> None:
    assert warnings_about(dict.fromkeys(SHIPPED, "x")) == []


@pytest.mark.parametrize("file", ["worker", "small", "standalone"])
def test_our_own_examples_pass_without_a_warning(file: str) -> None:
    assert warnings_about(parse_properties((COMPOSE / f"{file}.properties").read_text())) == []


def test_what_the_launcher_writes_itself_passes_without_a_warning() -> None:
    embedded = {BROKER_DATA_DIR.name: "/data/kafka"}
    assert warnings_about(up_properties("localhost:9092", 8083, range(5), embedded)) == []
    assert warnings_about(standalone_properties({}, range(5))) == []


def test_the_keys_of_encryption_between_services_are_those_that_are_read() -> None:
    assert SERVICES_SSL == KEYS


@pytest.mark.parametrize("role", SERVICES, ids=[role.name for role in SERVICES])
def test_what_a_service_reads_of_its_topic_is_known(role: Role) -> None:
    """Also what is given once, in trouble: lost.topics.accept."""
    topic = importlib.import_module(f"{role.module}.settings").TOPIC
    assert isinstance(topic, LogTopic)
    keys = topic.extend(ConfigDef()).keys
    assert "lost.topics.accept" in keys
    assert warnings_about(dict.fromkeys(keys, "x")) == []
