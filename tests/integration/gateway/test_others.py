"""What other users of the machine find and may do: on Copycat's files, services and embedded Kafka."""

from __future__ import annotations

import stat
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Any

import grpc
import httpx2
import psutil
import pytest
from confluent_kafka import (
    Consumer,
    ConsumerGroupTopicPartitions,
    KafkaError,
    KafkaException,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ResourcePatternType,
    ResourceType,
)
from confluent_kafka.cimpl import NewPartitions, NewTopic
from copycat.config.v1.config_service_pb2 import ListConnectorsRequest
from copycat.config.v1.config_service_pb2_grpc import ConfigServiceStub
from copycat_rpc.role import read_properties
from copycat_testkit.kafka import consume_all, create_topic, delete_topic, produce, unique, wait_until
from copycat_testkit.system import CopycatUp

pytestmark = [pytest.mark.timeout(300), pytest.mark.long]


def test_the_cluster_id_is_that_of_the_broker(system: CopycatUp) -> None:
    meta = (system.folder / "kafka" / "log" / "meta.properties").read_text().splitlines()
    cluster = next(line.removeprefix("cluster.id=") for line in meta if line.startswith("cluster.id="))

    assert httpx2.get(system.url, timeout=60).json()["kafka_cluster_id"] == cluster


def is_open_to_others(path: Path) -> bool:
    found = path.lstat().st_mode
    return not stat.S_ISLNK(found) and bool(found & (stat.S_IRWXG | stat.S_IRWXO))


def test_data_properties_and_segments_are_for_their_owner_only(system: CopycatUp) -> None:
    kafka = system.folder / "kafka"
    kept = [system.folder, system.folder / "logs", kafka, *system.folder.glob("*.*"), *kafka.rglob("*")]

    assert any(path.name == "00000000000000000000.log" for path in kept), "there are segments"
    assert [path for path in kept if path.exists() and is_open_to_others(path)] == []


def test_the_services_answer_nobody_without_the_secret(system: CopycatUp) -> None:
    properties = read_properties(system.folder / "worker.properties")
    with (
        grpc.insecure_channel(properties["config.addresses"]) as channel,
        pytest.raises(grpc.RpcError) as caught,
    ):
        ConfigServiceStub(channel).ListConnectors(ListConnectorsRequest(), timeout=10)

    assert caught.value.code() is grpc.StatusCode.UNAUTHENTICATED
    details = caught.value.details()
    assert details
    assert properties["cluster.secret"] not in details


def test_the_secret_is_on_no_command_line_in_no_environment_and_in_no_log(system: CopycatUp) -> None:
    secret = read_properties(system.folder / "worker.properties")["cluster.secret"]
    shown = []
    for process in psutil.Process(system.pid).children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            shown += [*process.cmdline(), *process.environ().values()]
    logs = [file.read_text("utf-8", errors="replace") for file in (system.folder / "logs").iterdir()]

    assert len(shown) > 100
    assert not any(secret in text for text in (*shown, *logs, *system.said))


SECONDS = 60.0
OWN = ("connect-configs", "connect-offsets", "connect-status", "connect-assignments", "copycat-changes")
ELECTION = "connect-cluster-copycat-owner-__assignor-__leader"
KAFKAS = "__consumer_offsets"
SERVICES_ID = "connect-cluster-copycat"
SINK_GROUP = "connect-somebodys-sink"
SINK = {
    "connector.class": "FileStreamSink",
    "value.converter": "org.apache.kafka.connect.storage.StringConverter",
}


@pytest.fixture(scope="module")
def others(system: CopycatUp) -> AdminClient:
    """Anybody's client."""
    return AdminClient({"bootstrap.servers": system.kafka})


@pytest.fixture(scope="module")
def change(system: CopycatUp) -> None:
    """Change something: the topic of changes is made with the first one."""
    url = f"{system.url}/connectors/{unique('changed')}"
    config = {
        **SINK,
        "topics": "none",
        "file": str(system.folder / "none.txt"),
        "name": url.rpartition("/")[2],
    }
    assert httpx2.put(f"{url}/config", json=config, timeout=SECONDS).status_code == 201
    assert httpx2.delete(url, timeout=SECONDS).status_code == 204
    admin = AdminClient({**system.kafka_client()})
    wait_until(lambda: "copycat-changes" in admin.list_topics(timeout=SECONDS).topics, SECONDS, "the topic")


def refusal(act: Callable[[], object]) -> int:
    """Return why Kafka refuses something; fails where it does not."""
    with pytest.raises(KafkaException) as caught:
        act()
    return int(caught.value.args[0].code())


def each(made: Mapping[Any, Future[Any]]) -> None:
    for future in made.values():
        future.result(SECONDS)


def move(admin: AdminClient, position: ConsumerGroupTopicPartitions) -> None:
    """Set the offsets of a group.

    Raises:
        KafkaException: They are not taken.
    """
    for future in admin.alter_consumer_group_offsets([position]).values():
        for place in future.result(SECONDS).topic_partitions:
            if place.error is not None:
                raise KafkaException(place.error)


def write(system: CopycatUp, topic: str, key: bytes = b"connector-evil", **settings: str) -> None:
    """Write a record as anybody.

    Raises:
        KafkaException: It is not taken.
    """
    failures: list[KafkaError | None] = []
    producer = Producer(
        {"bootstrap.servers": system.kafka, **{k.replace("_", "."): v for k, v in settings.items()}}
    )
    producer.produce(topic, b"garbage", key, on_delivery=lambda error, _: failures.append(error))
    assert producer.flush(SECONDS) == 0
    if (failure := failures.pop()) is not None:
        raise KafkaException(failure)


def read(bootstrap: str, topic: str, group: str) -> None:
    """Read a topic as anybody, in a group, until it is refused.

    Raises:
        KafkaException: It is.
    """
    with closing(
        Consumer({"bootstrap.servers": bootstrap, "group.id": group, "auto.offset.reset": "earliest"})
    ) as reader:
        reader.subscribe([topic])

        def refused() -> KafkaError | None:
            message = reader.poll(0.1)
            return message.error() if message else None

        raise KafkaException(wait_until(refused, SECONDS, "a refusal"))


@pytest.mark.usefixtures("change")
@pytest.mark.parametrize("topic", [*OWN, ELECTION, KAFKAS])
def test_nobody_else_writes_reads_alters_or_deletes_a_topic_of_copycats(
    system: CopycatUp, others: AdminClient, topic: str
) -> None:
    config = ConfigResource(
        ConfigResource.Type.TOPIC,
        topic,
        incremental_configs=[
            ConfigEntry("cleanup.policy", "delete", incremental_operation=AlterConfigOpType.SET)
        ],
    )
    acts: tuple[Callable[[], object], ...] = (
        lambda: write(system, topic),
        lambda: write(system, topic, client_id="__admin_client"),
        lambda: read(system.kafka, topic, unique("reader")),
        lambda: each(others.delete_records([TopicPartition(topic, 0, -1)])),
        lambda: each(others.incremental_alter_configs([config])),
        lambda: each(others.create_partitions([NewPartitions(topic, 60)])),
        lambda: each(others.delete_topics([topic])),
    )

    assert [refusal(act) for act in acts] == [KafkaError.TOPIC_AUTHORIZATION_FAILED] * len(acts)


@pytest.mark.usefixtures("change")
def test_nobody_else_makes_a_topic_of_copycats_anew(system: CopycatUp, others: AdminClient) -> None:
    for name in (*OWN, "connect-cluster-copycat-more"):
        made = others.create_topics([NewTopic(name, 1, 1)])
        assert refusal(partial(each, made)) == KafkaError.TOPIC_AUTHORIZATION_FAILED
    assert httpx2.get(f"{system.url}/health", timeout=SECONDS).status_code == 200


@pytest.mark.usefixtures("change")
@pytest.mark.parametrize("transactional", [SERVICES_ID, f"{SERVICES_ID}-offsets", "copycat-orders-0"])
def test_nobody_else_fences_a_writer_of_copycats(system: CopycatUp, transactional: str) -> None:
    zombie = Producer({"bootstrap.servers": system.kafka, "transactional.id": transactional})

    refused = refusal(lambda: zombie.init_transactions(SECONDS))

    assert refused == KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED


@pytest.mark.usefixtures("change")
def test_nobody_else_moves_or_joins_a_group_of_copycats_but_sees_it(
    system: CopycatUp, others: AdminClient
) -> None:
    topic = create_topic(system.kafka)
    position = ConsumerGroupTopicPartitions(SINK_GROUP, [TopicPartition(topic, 0, 7)])
    acts: tuple[Callable[[], object], ...] = (
        lambda: move(others, position),
        lambda: each(others.delete_consumer_groups([SINK_GROUP])),
        lambda: read(system.kafka, topic, SINK_GROUP),
        lambda: read(system.kafka, topic, f"{SERVICES_ID}-owner"),
    )

    assert [refusal(act) for act in acts] == [KafkaError.GROUP_AUTHORIZATION_FAILED] * len(acts)
    (seen,) = others.describe_consumer_groups([f"{SERVICES_ID}-owner"]).values()
    assert len(seen.result(SECONDS).members) == 1


@pytest.mark.usefixtures("change")
def test_nobody_else_changes_rules_brokers_or_the_cluster(system: CopycatUp, others: AdminClient) -> None:
    everything = AclBinding(
        ResourceType.TOPIC, "connect-", ResourcePatternType.PREFIXED, "User:ANONYMOUS", "*", AclOperation.ALL,
        AclPermissionType.ALLOW,
    )  # fmt: skip
    filtering: Any = AclBindingFilter
    any_rule = filtering(
        ResourceType.ANY, None, ResourcePatternType.ANY, None, None, AclOperation.ANY, AclPermissionType.ANY
    )
    more = ConfigEntry("log.retention.ms", "1", incremental_operation=AlterConfigOpType.SET)
    broker = ConfigResource(ConfigResource.Type.BROKER, "1", incremental_configs=[more])
    acts: tuple[Callable[[], object], ...] = (
        lambda: each(others.create_acls([everything])),
        lambda: each(others.delete_acls([any_rule])),
        lambda: each(others.incremental_alter_configs([broker])),
    )

    assert [refusal(act) for act in acts] == [KafkaError.CLUSTER_AUTHORIZATION_FAILED] * len(acts)


@pytest.mark.usefixtures("change")
def test_nobody_else_talks_to_the_controller_or_as_copycat(system: CopycatUp) -> None:
    java = next(each for each in psutil.Process(system.pid).children() if each.name() == "java")
    ports = {each.laddr.port for each in java.net_connections("tcp") if each.status == psutil.CONN_LISTEN}
    anybody = int(system.kafka.rpartition(":")[2])

    assert len(ports) == 3
    for port in ports - {anybody}:
        for wrong in (
            {},
            {
                "security.protocol": "SASL_PLAINTEXT",
                "sasl.mechanism": "PLAIN",
                "sasl.username": "copycat",
                "sasl.password": "guessed",
            },
        ):
            admin = AdminClient({"bootstrap.servers": f"127.0.0.1:{port}", "log_level": 0, **wrong})
            with pytest.raises(KafkaException):
                admin.list_topics(timeout=3)


@pytest.mark.usefixtures("change")
def test_others_use_topics_of_their_own_in_every_way(system: CopycatUp, others: AdminClient) -> None:
    topic = create_topic(system.kafka, partitions=2)
    produce(system.kafka, topic, [b"one", b"two"])
    producer = Producer({"bootstrap.servers": system.kafka, "transactional.id": unique("mine")})
    producer.init_transactions(SECONDS)
    producer.begin_transaction()
    producer.produce(topic, b"three")
    producer.commit_transaction(SECONDS)
    group = unique("group")
    with closing(
        Consumer({"bootstrap.servers": system.kafka, "group.id": group, "auto.offset.reset": "earliest"})
    ) as reader:
        reader.subscribe([topic])
        found = {wait_until(lambda: reader.poll(0.1), SECONDS, "a record").value() for _ in range(3)}
        reader.commit(asynchronous=False)
    each(others.create_partitions([NewPartitions(topic, 3)]))
    each(
        others.alter_consumer_group_offsets(
            [ConsumerGroupTopicPartitions(group, [TopicPartition(topic, 0, 0)])]
        )
    )
    each(others.delete_consumer_groups([group]))
    delete_topic(others, topic)

    assert found == {b"one", b"two", b"three"}


@pytest.mark.usefixtures("change")
def test_connectors_work_on_topics_of_others_and_keep_positions(system: CopycatUp, tmp_path: Path) -> None:
    topic, name = create_topic(system.kafka), unique("sink")
    produce(system.kafka, topic, [b"from anybody"])
    target = tmp_path / "target.txt"
    config = {**SINK, "topics": topic, "file": str(target)}

    made = httpx2.put(f"{system.url}/connectors/{name}/config", json=config, timeout=SECONDS)

    assert made.status_code == 201, made.text
    wait_until(lambda: target.exists() and target.read_text() == "from anybody\n", SECONDS, "the record")
    assert httpx2.delete(f"{system.url}/connectors/{name}", timeout=SECONDS).status_code == 204


@pytest.mark.usefixtures("change")
def test_the_owner_reads_internal_topics_with_the_login_of_the_properties(system: CopycatUp) -> None:
    assert consume_all(system.kafka_client(), "connect-status") is not None


@pytest.mark.usefixtures("change")
def test_the_password_is_nowhere_but_in_files_of_the_owner(system: CopycatUp, others: AdminClient) -> None:
    password = str(system.kafka_client()["sasl.password"])
    shown = []
    for process in psutil.Process(system.pid).children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            shown += [*process.cmdline(), *process.environ().values()]
    logs = [file.read_text("utf-8", errors="replace") for file in (system.folder / "logs").iterdir()]
    broker = ConfigResource(ConfigResource.Type.BROKER, "1")
    (told,) = others.describe_configs([broker]).values()

    assert len(password) == 64
    assert len(shown) > 100
    assert not any(password in text for text in (*shown, *logs, *system.said, str(told.result(SECONDS))))
    assert not any(password in str(entry.value) for entry in told.result(SECONDS).values())
