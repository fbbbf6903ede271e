"""A worker's properties: what they must say, what `copycat up` makes of them, what nobody reads."""

from __future__ import annotations

import importlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka.admin import AclBinding, AclOperation, AclPermissionType, ResourceType
from copycat_connect.config import ConfigDef
from copycat_connect.config.properties import parse_properties
from copycat_connect.config.worker_keys import BROKER_DATA_DIR
from copycat_connect.errors import ConfigError
from copycat_embedded.private_listener import PrivateListener
from copycat_eventlog.access_rules import access_rules
from copycat_eventlog.worker_properties import LogTopic
from copycat_launcher.misspelt import SERVICES_SSL, warnings_about
from copycat_launcher.roles import CONFIG, EXECUTOR, GATEWAY, SERVICES, ServiceRole
from copycat_launcher.worker_properties import (
    DISTRIBUTED,
    STORED,
    executor_properties,
    login_properties,
    standalone_properties,
    up_properties,
    write_properties,
)
from copycat_rpc.role import read_properties
from copycat_rpc.tls import KEYS
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.full_disk import room_for

PORTS = (1, 2, 3, 4, 5)


def test_the_names_are_those_kafka_ships() -> None:
    written = up_properties("127.0.0.1:9", 8083, PORTS, {})
    assert written["config.storage.topic"] == "connect-configs"
    assert written["value.converter"] == "org.apache.kafka.connect.json.JsonConverter"
    assert written["value.converter.schemas.enable"] == "true"
    assert DISTRIBUTED.parse(written)["group.id"] == "copycat"


def test_replication_is_the_brokers_default() -> None:
    written = up_properties("a:1", 8083, PORTS, {})
    factors = {key: value for key, value in written.items() if key.endswith("replication.factor")}
    assert factors == {f"{name}.storage.replication.factor": "-1" for name in STORED}


def test_every_role_is_found_where_it_listens() -> None:
    written = up_properties("a:1", 8083, PORTS, {})
    assert CONFIG.address(written) == written["config.addresses"] == "127.0.0.1:1"
    assert EXECUTOR.address(written) == "127.0.0.1:5"
    assert GATEWAY.address(written) == "127.0.0.1:8083"
    assert EXECUTOR.address(executor_properties(written, 6)) == "127.0.0.1:6"


def test_what_the_user_sets_wins() -> None:
    assert up_properties("a:1", 1, PORTS, {"group.id": "mine"})["group.id"] == "mine"


def test_a_service_listening_everywhere_is_reached_on_loopback() -> None:
    assert CONFIG.address({"config.listen": "0.0.0.0:9101"}) == "127.0.0.1:9101"
    assert GATEWAY.address({"listeners": "http://:8084,https://x:1"}) == "127.0.0.1:8084"
    assert GATEWAY.address({"listeners": "https://:8443"}) == "127.0.0.1:8443"
    assert GATEWAY.address({}) == "127.0.0.1:8083"


@pytest.mark.parametrize("key", list(DISTRIBUTED.keys))
def test_a_missing_key_is_refused_in_kafkas_words(key: str) -> None:
    complete = up_properties("a:1", 8083, PORTS, {})
    del complete[key]
    with pytest.raises(ConfigError) as refused:
        DISTRIBUTED.parse(complete)
    assert refused.value.message == f'Missing required configuration "{key}" which has no default value.'


TEXTS = st.text(st.characters(blacklist_categories=("Cs", "Cc")), max_size=20)


@given(st.dictionaries(TEXTS.filter(bool), TEXTS.map(lambda text: f"\\ {text}\n\t")))
def test_whatever_is_written_is_read_back(tmp_path_factory: object, properties: dict[str, str]) -> None:
    file = Path(str(tmp_path_factory.mktemp("properties"))) / "worker.properties"  # type: ignore[attr-defined]
    write_properties(file, properties, "two\nlines")
    assert read_properties(file) == properties


def test_java_escapes_are_understood(tmp_path: Path) -> None:
    file = tmp_path / "c.properties"
    file.write_text("! note\nname : s\\u00fcd\npath=C\\:\\\\logs\\\n   \\\\today\nempty\nlist=a,\\\n  b\n")
    assert read_properties(file) == {"name": "süd", "path": "C:\\logs\\today", "empty": "", "list": "a,b"}


@pytest.fixture
def lax_umask() -> Iterator[None]:
    """Narrow nothing for whoever creates a file."""
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.usefixtures("lax_umask")
@pytest.mark.parametrize("left", [(), ("worker.properties",), ("worker.properties.half",)])
def test_none_but_the_owner_may_read_what_is_written(tmp_path: Path, left: tuple[str, ...]) -> None:
    for name in left:
        (tmp_path / name).write_text("wider")
        (tmp_path / name).chmod(0o666)
    file = tmp_path / "worker.properties"
    write_properties(file, {"password": "secret"})
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [each.name for each in tmp_path.iterdir()] == [file.name]


@pytest.mark.usefixtures("lax_umask")
def test_nobody_who_opened_a_wider_file_before_reads_what_is_written(tmp_path: Path) -> None:
    file = tmp_path / "worker.properties"
    half = tmp_path / "worker.properties.half"
    half.write_text("")
    with half.open() as before:
        write_properties(file, {"password": "secret"})
        assert before.read() == ""


def test_a_disk_that_is_full_leaves_the_file_as_it_was_and_no_other(tmp_path: Path) -> None:
    file = tmp_path / "worker.properties"
    write_properties(file, {"a": "1"})
    before = file.read_bytes()
    for room in range(len(before)):
        with room_for(room), pytest.raises(OSError, match="File too large"):
            write_properties(file, {"a": "2"})
        assert [(each.name, each.read_bytes()) for each in tmp_path.iterdir()] == [(file.name, before)]


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
def test_what_a_service_reads_of_its_topic_is_known(role: ServiceRole) -> None:
    """Also what is given once, in trouble: lost.topics.accept."""
    topic = importlib.import_module(f"{role.module}.settings").TOPIC
    assert isinstance(topic, LogTopic)
    keys = topic.extend(ConfigDef()).keys
    assert "lost.topics.accept" in keys
    assert warnings_about(dict.fromkeys(keys, "x")) == []


def rules(**settings: str) -> list[AclBinding]:
    given = {key.replace("_", "."): value for key, value in settings.items()}
    return access_rules(up_properties("a:1", 8083, PORTS, given))


def closed(found: list[AclBinding], kind: ResourceType, operation: AclOperation) -> set[str]:
    return {
        rule.name
        for rule in found
        if (rule.restype, rule.operation, rule.permission_type) == (kind, operation, AclPermissionType.DENY)
    }


def test_the_topics_of_the_settings_are_closed_and_those_that_have_names_by_default() -> None:
    found = rules(
        group_id="mine", config_storage_topic="a", status_storage_topic="b", changes_storage_topic="c"
    )

    for operation in (AclOperation.READ, AclOperation.WRITE, AclOperation.CREATE, AclOperation.DELETE):
        assert closed(found, ResourceType.TOPIC, operation) >= {
            "a", "b", "c", "connect-offsets", "connect-assignments", "mine-services", "connect-cluster-mine",
            "copycat-status-mine", "__consumer_offsets", "__transaction_state",
        }  # fmt: skip
    assert "mine-changes" in closed(rules(group_id="mine"), ResourceType.TOPIC, AclOperation.WRITE)


def test_writers_and_groups_of_the_cluster_are_closed() -> None:
    found = rules(group_id="mine")

    writers = closed(found, ResourceType.TRANSACTIONAL_ID, AclOperation.WRITE)
    assert writers == {"mine-", "connect-cluster-mine", "copycat-status-mine"}
    for operation in (AclOperation.READ, AclOperation.DELETE):
        assert closed(found, ResourceType.GROUP, operation) == {
            "connect-", "connect-cluster-mine", "copycat-status-mine",
        }  # fmt: skip


def test_everybody_may_do_what_is_not_refused_but_change_the_cluster() -> None:
    found = rules()
    allowed = [rule for rule in found if rule.permission_type == AclPermissionType.ALLOW]
    of_cluster = {rule.operation for rule in allowed if rule.restype == ResourceType.BROKER}

    assert {rule.restype for rule in allowed if rule.operation == AclOperation.ALL} == {
        ResourceType.TOPIC, ResourceType.GROUP, ResourceType.TRANSACTIONAL_ID,
    }  # fmt: skip
    assert of_cluster.isdisjoint({
        AclOperation.ALL, AclOperation.ALTER, AclOperation.ALTER_CONFIGS, AclOperation.CLUSTER_ACTION,
        AclOperation.CREATE,
    })  # fmt: skip
    first_allowed = found.index(allowed[0])
    assert all(rule.permission_type == AclPermissionType.ALLOW for rule in found[first_allowed:])


def test_services_and_connectors_log_in_and_the_address_for_all_others_is_told() -> None:
    login = login_properties(PrivateListener(9, "word"), "127.0.0.1:7")

    assert login["embedded.bootstrap.servers"] == "127.0.0.1:7"
    assert (
        login["sasl.jaas.config"] == login["producer.sasl.jaas.config"] == login["consumer.sasl.jaas.config"]
    )
    assert 'password="word"' in login["sasl.jaas.config"]
