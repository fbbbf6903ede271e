"""What clients of Kafka 4.4 may ask of a broker, asked of the embedded one: each feature once.

Left out is tiered storage, which needs a plugin of its own.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from confluent_kafka import Consumer, ElectionType, KafkaError, KafkaException, Producer
from confluent_kafka import TopicPartition as Partition
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewTopic,
    ResourcePatternType,
    ResourceType,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)
from copycat_testkit.kafka import unique, wait_until
from kafka.admin import KafkaAdminClient
from kafka.structs import TopicPartition

from tests.integration.embedded.secured_broker import (
    MECHANISM,
    SCRAM,
    JavaClients,
    SecuredBroker,
    java_clients,
    secured_broker,
)

CODECS = {"gzip": 1, "snappy": 2, "lz4": 3, "zstd": 4}
SECONDS = 60
pytestmark = [pytest.mark.timeout(300), pytest.mark.long]


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredBroker]:
    with secured_broker(tmp_path_factory.mktemp("features")) as running:
        yield running


@pytest.fixture(scope="module")
def admin(broker: SecuredBroker) -> AdminClient:
    return AdminClient(broker.client())


@pytest.fixture(scope="module")
def python_admin(broker: SecuredBroker) -> Iterator[KafkaAdminClient]:
    client = KafkaAdminClient(**broker.python_client())
    yield client
    client.close()


@pytest.fixture(scope="module")
def java(broker: SecuredBroker) -> Iterator[JavaClients]:
    with java_clients(broker.java_client()) as clients:
        yield clients


def created(admin: AdminClient, partitions: int = 1, name: str = "", **config: str) -> str:
    topic = name or unique("feature")
    settings = {key.replace("_", "."): value for key, value in config.items()}
    admin.create_topics([NewTopic(topic, partitions, 1, config=settings)])[topic].result(SECONDS)
    wait_until(lambda: topic in admin.list_topics(timeout=SECONDS).topics, SECONDS, f"{topic} is there")
    return topic


def write(broker: SecuredBroker, topic: str, *values: str, key: str | None = None, **more: str) -> None:
    config = {key.replace("_", "."): value for key, value in more.items()}
    producer = Producer({**broker.client(), **config})
    failures: list[object] = []
    for value in values:
        producer.produce(topic, value, key, on_delivery=lambda error, _: failures.append(error))
    assert producer.flush(SECONDS) == 0
    assert failures == [None] * len(values)


def read(broker: SecuredBroker, topic: str, count: int, **more: str) -> list[str]:
    """Read until so many records came, and let the group know that they did."""
    config = {"group.id": unique("group"), "auto.offset.reset": "earliest"}
    config |= {key.replace("_", "."): value for key, value in more.items()}
    consumer = Consumer({**broker.client(), **config, "enable.auto.commit": False})
    consumer.subscribe([topic])
    values: list[str] = []

    def all_came() -> bool:
        message = consumer.poll(0.2)
        if message is not None and message.error() is None:
            values.append((message.value() or b"").decode())
        return len(values) >= count

    wait_until(all_came, SECONDS, f"{count} records of {topic}")
    consumer.commit(asynchronous=False)
    consumer.close()
    return values


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_both_group_protocols_serve_topics_and_patterns(
    broker: SecuredBroker, admin: AdminClient, python_admin: KafkaAdminClient, protocol: str
) -> None:
    prefix, group = unique("pattern"), unique("group")
    topics = [created(admin, name=f"{prefix}-{place}") for place in "ab"]
    for topic in topics:
        write(broker, topic, topic)

    by_name = read(broker, topics[0], 1, group_protocol=protocol)
    by_pattern = read(broker, f"^{prefix}-[a-z]$", 2, group_protocol=protocol, group_id=group)

    assert (by_name, sorted(by_pattern)) == ([topics[0]], topics)
    listed = {each["group_id"]: each for each in python_admin.list_groups()}
    assert listed[group]["group_type"].lower() == protocol
    admin.delete_consumer_groups([group])[group].result(SECONDS)


def test_a_share_group_shares_the_records_of_a_partition(
    broker: SecuredBroker, admin: AdminClient, java: JavaClients
) -> None:
    topic, group = created(admin), unique("shared")
    config = java.kafka.common.config.ConfigResource
    resource = config(config.Type.GROUP, group)
    entry = java.kafka.clients.admin.ConfigEntry("share.auto.offset.reset", "earliest")
    operation = java.kafka.clients.admin.AlterConfigOp
    change = java.array([operation(entry, operation.OpType.SET)])
    java.done(java.admin.incrementalAlterConfigs(java.map({resource: change})).all())
    values = [f"v{number}" for number in range(20)]
    write(broker, topic, *values)

    consumers = [java.share_consumer(group) for _ in range(2)]
    got: list[str] = []
    try:
        for consumer in consumers:
            consumer.subscribe(java.array([topic]))

        def all_came() -> bool:
            for consumer in consumers:
                got.extend(java.poll(consumer))
            return len(got) >= len(values)

        wait_until(all_came, SECONDS, "all records")
        described = java.done(java.admin.describeShareGroups(java.array([group])).all())
        assert described.get(group).members().size() == 2
    finally:
        for consumer in consumers:
            consumer.close()
    assert sorted(got) == sorted(values)


def test_transactions_of_both_versions_commit_and_abort(
    broker: SecuredBroker, admin: AdminClient, python_admin: KafkaAdminClient, java: JavaClients
) -> None:
    topic = created(admin)
    first = Producer({**broker.client(), "transactional.id": unique("first")})
    first.init_transactions(SECONDS)
    second = java.producer(transactional_id=unique("second"))  # KIP-890: a new epoch for each transaction
    second.initTransactions()
    for kept in (False, True):
        first.begin_transaction()
        first.produce(topic, f"librdkafka {kept}")
        (first.commit_transaction if kept else first.abort_transaction)(SECONDS)
        second.beginTransaction()
        second.send(java.kafka.clients.producer.ProducerRecord(topic, f"java {kept}"))
        (second.commitTransaction if kept else second.abortTransaction)()
    second.close()
    first.close()

    assert read(broker, topic, 2, isolation_level="read_committed") == ["librdkafka True", "java True"]
    features = python_admin.describe_features()
    assert features["transaction.version"]["finalized"] == (2, 2)
    assert "CompleteCommit" in str(python_admin.list_transactions())


@pytest.mark.parametrize("codec", CODECS)
def test_batches_are_compressed_by_producers_and_again_by_the_broker(
    broker: SecuredBroker, admin: AdminClient, codec: str
) -> None:
    other = "gzip" if codec != "gzip" else "zstd"
    as_sent, again = created(admin), created(admin, compression_type=other)
    for topic in (as_sent, again):
        write(broker, topic, "x" * 1000, compression_type=codec, enable_idempotence="true")

    assert [broker.codec(as_sent), broker.codec(again)] == [CODECS[codec], CODECS[other]]
    assert read(broker, as_sent, 1) == read(broker, again, 1) == ["x" * 1000]


def test_a_user_with_a_scrambled_password_may_do_what_a_rule_allows(
    broker: SecuredBroker, admin: AdminClient
) -> None:
    user, allowed, forbidden = unique("user"), created(admin), created(admin)
    iterations = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, 4096)
    upsertion = UserScramCredentialUpsertion(user, iterations, b"pass word")
    admin.alter_user_scram_credentials([upsertion])[user].result(SECONDS)
    rule = AclBinding(
        ResourceType.TOPIC,
        allowed,
        ResourcePatternType.LITERAL,
        f"User:{user}",
        "*",
        AclOperation.ALL,
        AclPermissionType.ALLOW,
    )
    admin.create_acls([rule])[rule].result(SECONDS)
    client = AdminClient(broker.client(user, "pass word", MECHANISM))

    def sees() -> set[str]:
        try:
            return set(client.list_topics(timeout=SECONDS).topics)
        except KafkaException:  # the controller answered before the broker knew
            return set()

    wait_until(lambda: allowed in sees(), SECONDS, f"{user} sees {allowed}")
    assert forbidden not in sees()


def test_quotas_and_client_metrics_are_kept(java: JavaClients) -> None:
    common, admin = java.kafka.common, java.kafka.clients.admin
    entity = common.quota.ClientQuotaEntity(java.map({"user": "limited"}))
    alteration = common.quota.ClientQuotaAlteration
    rate = alteration.Op("producer_byte_rate", 1048576.0)
    java.done(java.admin.alterClientQuotas(java.array([alteration(entity, java.array([rate]))])).all())
    config = common.config.ConfigResource
    metrics = config(config.Type.CLIENT_METRICS, "every-client")  # KIP-714
    change = admin.AlterConfigOp(admin.ConfigEntry("interval.ms", "1000"), admin.AlterConfigOp.OpType.SET)
    java.done(java.admin.incrementalAlterConfigs(java.map({metrics: java.array([change])})).all())

    def kept() -> bool:
        quotas = java.done(java.admin.describeClientQuotas(common.quota.ClientQuotaFilter.all()).entities())
        configs = java.done(java.admin.describeConfigs(java.array([metrics])).all())
        rates = quotas.get(entity)
        return rates is not None and configs.get(metrics).get("interval.ms").value() == "1000"

    wait_until(kept, SECONDS, "the quota and the subscription are known")


def test_a_delegation_token_logs_in(broker: SecuredBroker, java: JavaClients) -> None:
    token = java.done(java.admin.createDelegationToken().delegationToken())
    user, password = token.tokenInfo().tokenId(), token.hmacAsBase64String()
    login = f'{SCRAM} username="{user}" password="{password}" tokenauth="true";'
    config = java.map(broker.java_client(login, MECHANISM))

    def logs_in() -> bool:  # the controller answers before the broker knows the token
        client = java.kafka.clients.admin.Admin.create(config)
        nodes = client.describeCluster().nodes()
        wait_until(nodes.isDone, SECONDS, "an answer")
        client.close()
        return not nodes.isCompletedExceptionally()

    wait_until(logs_in, SECONDS, "the token logs in")
    found = java.done(java.admin.describeDelegationToken().delegationTokens())
    assert [each.tokenInfo().tokenId() for each in java.each(found)] == [user]


def test_topics_change_their_settings_and_partitions_and_lose_records(
    broker: SecuredBroker, admin: AdminClient, python_admin: KafkaAdminClient
) -> None:
    topic = created(admin)
    write(broker, topic, "a", "b", "c")
    change = ConfigEntry("retention.ms", "1234567", incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ConfigResource.Type.TOPIC, topic, incremental_configs=[change])
    admin.incremental_alter_configs([resource])[resource].result(SECONDS)
    python_admin.create_partitions({topic: 2})
    python_admin.delete_records({TopicPartition(topic, 0): 2})

    asked = ConfigResource(ConfigResource.Type.TOPIC, topic)

    def changed() -> bool:
        configs = admin.describe_configs([asked])[asked].result(SECONDS)
        partitions = admin.list_topics(timeout=SECONDS).topics[topic].partitions
        return configs["retention.ms"].value == "1234567" and len(partitions) == 2

    wait_until(changed, SECONDS, "the broker goes by it")
    assert read(broker, topic, 1) == ["c"]


def test_the_cluster_describes_itself_and_moves_partitions(
    admin: AdminClient, python_admin: KafkaAdminClient
) -> None:
    topic = created(admin)
    cluster = admin.describe_cluster().result(SECONDS)
    (node,) = [each.id for each in cluster.nodes]

    python_admin.alter_partition_reassignments({TopicPartition(topic, 0): [node]})
    elected = admin.elect_leaders(ElectionType.PREFERRED, [Partition(topic, 0)]).result(SECONDS)

    (outcome,) = elected.values()
    assert outcome is None or outcome.code() == KafkaError.ELECTION_NOT_NEEDED
    assert python_admin.list_partition_reassignments() == {}
    (quorum,) = python_admin.describe_metadata_quorum()["topics"][0]["partitions"]
    assert quorum["leader_id"] == node
    assert topic in str(python_admin.describe_log_dirs())
    assert python_admin.describe_producers([TopicPartition(topic, 0)]) is not None


def test_a_compacted_topic_keeps_the_newest_value_of_a_key(broker: SecuredBroker, admin: AdminClient) -> None:
    topic = created(
        admin,
        cleanup_policy="compact",
        segment_ms="100",
        min_cleanable_dirty_ratio="0.01",
        max_compaction_lag_ms="100",
    )

    def compacted() -> bool:
        write(broker, topic, "old", "new", key="k")  # each write closes the segment before it
        segments = sorted((broker.log_folder / f"{topic}-0").glob("*.log"))
        first = segments[0].read_bytes()
        return len(segments) > 1 and first.count(b"old") == 0 < first.count(b"new") <= 1

    wait_until(compacted, SECONDS, "the old values are gone")
