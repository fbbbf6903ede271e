"""Topics of one cluster in another, by a whole system: byte for byte, as they grow, as the pages show it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient, ConfigResource
from confluent_kafka.cimpl import NewPartitions
from copycat_connect.errors import DataError
from copycat_connect.plugin import PluginSpec
from copycat_mirror.checkpoint.plugin import PLUGIN as CHECKPOINT
from copycat_mirror.cluster import MirrorCluster
from copycat_mirror.heartbeat.plugin import PLUGIN as HEARTBEAT
from copycat_mirror.records import Checkpoint, Heartbeat, OffsetSync
from copycat_mirror.source.plugin import PLUGIN as SOURCE
from copycat_testkit.kafka import consume_all, create_topic, produce, unique, wait_until

from tests.integration.mirror.conftest import NOW, SECONDS, Pair, Record, consumed, write

pytestmark = pytest.mark.timeout(300)

PARTITIONS = 3


def odd_records(count: int) -> list[Record]:
    """Records with everything that must not change: no key, no value, no text, headers twice or empty."""
    headers = ((), (("a", b"1"), ("a", b"\xff\x00"), ("empty", b""), ("none", None)))
    keys = (None, b"", b"key", b"\x80\x81")
    return [
        (n % PARTITIONS, keys[n % 4], None if n % 7 == 0 else b"\xfe%d" % n, headers[n % 2], NOW + n * 3)
        for n in range(count)
    ]


@pytest.mark.long
@pytest.mark.row("K26-72")
def test_a_topic_is_copied_byte_for_byte(pair: Pair) -> None:
    topic, name = unique("bytes"), unique("mirror")
    create_topic(pair.source, topic, PARTITIONS)
    sent = odd_records(3000)
    write(pair.source, topic, sent)
    pair.put(name, pair.config("Source", "berlin", "paris", {"topics": topic, "tasks.max": "2"}))
    arrived = pair.arrives(f"berlin.{topic}", len(sent))
    assert arrived == consumed(pair.source, topic)
    assert arrived == sorted(sent, key=lambda record: record[0])
    pair.delete(name)


def property_of(bootstrap: str, topic: str, name: str) -> str | None:
    """Return a setting of a topic as it is in force."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    resource = ConfigResource(ConfigResource.Type.TOPIC, topic)
    value = admin.describe_configs([resource])[resource].result(60)[name].value
    return None if value is None else str(value)


@pytest.mark.row("K26-72")
@pytest.mark.row("K26-73")
def test_topics_come_grow_and_keep_their_settings(pair: Pair) -> None:
    alias, topic = unique("berlin"), unique("grows")
    settings = {"retention.ms": "7200000", "min.insync.replicas": "1", "max.message.bytes": "200000"}
    create_topic(pair.source, topic, 2, settings)
    more = {
        "topics": f"{topic}.*",
        "refresh.topics.interval.seconds": "1",
        "sync.topic.configs.interval.seconds": "1",
        "tasks.max": "2",
    }
    pair.put(alias, pair.config("Source", alias, "paris", more))
    pair.runs(alias, 2)
    remote = f"{alias}.{topic}"
    assert property_of(pair.target, remote, "retention.ms") == "7200000"
    source = MirrorCluster(AdminClient({"bootstrap.servers": pair.source}), "source", 30)
    source.alter_topic_config(topic, {"retention.ms": "3600000"}, ["max.message.bytes"])
    wait_until(
        lambda: property_of(pair.target, remote, "retention.ms") == "3600000", SECONDS, "the setting follows"
    )
    assert property_of(pair.target, remote, "max.message.bytes") != "200000"
    admin = AdminClient({"bootstrap.servers": pair.source})
    admin.create_partitions([NewPartitions(topic, 3)])[topic].result(60)
    create_topic(pair.source, f"{topic}-late")
    write(pair.source, topic, [(2, None, b"third", (), NOW)])
    write(pair.source, f"{topic}-late", [(0, b"k", b"late", (), 1_700_000_000_001)])
    wait_until(lambda: consumed(pair.target, f"{remote}-late"), SECONDS, "a new topic is mirrored")
    wait_until(lambda: consumed(pair.target, remote), SECONDS, "a new partition is mirrored")
    assert consumed(pair.target, remote) == [(2, None, b"third", (), NOW)]
    pair.delete(alias)


KILLS = 2
ROWS = 6_000
"""Records written before each kill, and after the last."""
PARTITIONS_WITH_KILLS = 2


def rows(first: int) -> list[Record]:
    return [
        (n % PARTITIONS_WITH_KILLS, b"%d" % n, b"value %d" % n, (), NOW + n)
        for n in range(first, first + ROWS)
    ]


@pytest.mark.timeout(400)
@pytest.mark.long
@pytest.mark.row("K26-72")
def test_records_are_mirrored_exactly_once_though_hosts_are_killed(pair: Pair) -> None:
    topic, name = unique("exact"), unique("mirror")
    create_topic(pair.source, topic, PARTITIONS_WITH_KILLS)
    exact = {
        "topics": topic,
        "delivery.guarantee": "exactly_once",
        "source.consumer.isolation.level": "read_committed",
        "source.consumer.max.poll.records": "100",
    }
    sent, struck = rows(0), 0
    write(pair.source, topic, sent)
    pair.put(name, pair.config("Source", "berlin", "paris", exact))
    pair.runs(name)
    for kill in range(KILLS):
        wait_until(
            lambda: len(consumed(pair.target, f"berlin.{topic}")) > kill * ROWS,  # noqa: B023
            SECONDS,
            "the first of the new records",
        )
        pair.system.kill("host")
        struck += len(consumed(pair.target, f"berlin.{topic}")) < len(sent)
        write(pair.source, topic, rows((kill + 1) * ROWS))
        sent += rows((kill + 1) * ROWS)
        pair.runs(name)
    arrived = pair.arrives(f"berlin.{topic}", len(sent))
    pair.delete(name)
    assert arrived == sorted(sent, key=lambda record: record[0])
    assert struck, "no kill came while records flowed"


EVERY_SECOND = {
    "emit.checkpoints.interval.seconds": "1",
    "sync.group.offsets.enabled": "true",
    "sync.group.offsets.interval.seconds": "1",
    "refresh.groups.interval.seconds": "1",
}


def read(bootstrap: str, group: str, topics: Sequence[str], count: int) -> list[bytes]:
    """Read so many records as a member of a group, from where it is, and commit."""
    settings = {"bootstrap.servers": bootstrap, "group.id": group, "auto.offset.reset": "earliest"}
    consumer = Consumer({**settings, "enable.auto.commit": False})
    consumer.subscribe(list(topics))
    values: list[bytes] = []

    def enough() -> bool:
        values.extend(
            each.value() or b"" for each in consumer.consume(count - len(values), 0.2) if not each.error()
        )
        return len(values) >= count

    try:
        wait_until(enough, SECONDS, f"{count} records of {topics}")
        consumer.commit(asynchronous=False)
    finally:
        consumer.close()
    return values


def committed(bootstrap: str, group: str, topic: str) -> int:
    """Return the group's offset of partition 0."""
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": group})
    try:
        return int(consumer.committed([TopicPartition(topic, 0)], timeout=20)[0].offset)
    finally:
        consumer.close()


def values_of(bootstrap: str, topic: str) -> list[bytes]:
    return [record[2] or b"" for record in consumed(bootstrap, topic)]


def syncs_of(bootstrap: str, topic: str, mirrored: str) -> list[OffsetSync]:
    """Return the offset syncs of a mirrored topic."""
    found = [
        OffsetSync.read(each.key() or b"", each.value() or b"") for each in consume_all(bootstrap, topic)
    ]
    return [sync for sync in found if sync.topic == mirrored]


def checkpoints_of(bootstrap: str, topic: str) -> list[Checkpoint]:
    return [Checkpoint.read(each.key() or b"", each.value() or b"") for each in consume_all(bootstrap, topic)]


def numbered(first: int, end: int) -> list[bytes]:
    return [b"%d" % number for number in range(first, end)]


@pytest.mark.timeout(400)
@pytest.mark.long
def test_a_group_goes_over_and_comes_back_without_loss(pair: Pair) -> None:
    there, back, group = unique("berlin"), unique("paris"), unique("group")
    topic = create_topic(pair.source, unique("orders"))
    create_topic(pair.target, topic)
    produce(pair.source, topic, numbered(0, 1000))
    mirrored, syncs = f"{there}.{topic}", f"mm2-offset-syncs.{back}.internal"
    only = {"topics": topic, "groups": group, "refresh.topics.interval.seconds": "1"}
    pair.put(f"{there}-records", pair.config("Source", there, back, only))
    assert read(pair.source, group, [topic], 500) == numbered(0, 500)
    pair.arrives(mirrored, 1000)
    pair.put(f"{there}-groups", pair.config("Checkpoint", there, back, {**only, **EVERY_SECOND}))
    wait_until(lambda: committed(pair.target, group, mirrored) > 0, SECONDS, "an offset at the target")
    translated = committed(pair.target, group, mirrored)
    wait_until(
        lambda: {sync.upstream for sync in syncs_of(pair.source, syncs, topic)} >= {0, 999},
        SECONDS,
        "offset syncs of the first record and, with the next commit, of the last",
    )
    assert all(sync.upstream == sync.downstream for sync in syncs_of(pair.source, syncs, topic))
    assert translated <= 500
    # Over: what the group had not read comes, and what producers write at the target now.
    produce(pair.target, topic, numbered(5000, 5300))
    behind = 1000 - translated
    over = read(pair.target, group, [mirrored, topic], behind + 300)
    assert sorted(over) == sorted(numbered(translated, 1000) + numbered(5000, 5300))
    # Back: the target's own records are mirrored to the source, the source's own are not sent home.
    home = {
        "source.cluster.bootstrap.servers": pair.target,
        "target.cluster.bootstrap.servers": pair.source,
        "producer.override.bootstrap.servers": pair.source,
        "topics": f"{topic},{there}\\.{topic}",
        "groups": group,
    }
    pair.put(f"{back}-records", pair.config("Source", back, there, home))
    wait_until(lambda: len(consumed(pair.source, f"{back}.{topic}")) >= 300, SECONDS, "records came back")
    pair.put(f"{back}-groups", pair.config("Checkpoint", back, there, {**home, **EVERY_SECOND}))
    wait_until(
        lambda: committed(pair.source, group, f"{back}.{topic}") == 300, SECONDS, "an offset at the source"
    )
    produce(pair.target, topic, numbered(6000, 6010))
    left = read(pair.source, group, [topic, f"{back}.{topic}"], 500 + 10)
    assert sorted(left) == sorted(numbered(500, 1000) + numbered(6000, 6010))
    names = AdminClient({"bootstrap.servers": pair.source}).list_topics(timeout=20).topics
    assert f"{back}.{there}.{topic}" not in names
    assert values_of(pair.target, mirrored) == numbered(0, 1000)
    internal = f"{there}.checkpoints.internal"
    wait_until(
        lambda: {translated, 1000} <= {each.downstream for each in checkpoints_of(pair.target, internal)},
        SECONDS,
        "checkpoints of where the group was when it went over, and of where it is after it came back",
    )
    for name in (f"{there}-records", f"{there}-groups", f"{back}-records", f"{back}-groups"):
        pair.delete(name)
    checkpoints = checkpoints_of(pair.target, internal)
    assert {(each.group, each.topic, each.partition) for each in checkpoints} == {(group, mirrored, 0)}
    assert all(each.downstream <= each.upstream for each in checkpoints)


@pytest.mark.timeout(400)
@pytest.mark.long
def test_heartbeats_arrive_and_are_mirrored_on(pair: Pair) -> None:
    alias = unique("berlin")
    name = unique("heartbeats")
    more = {"emit.heartbeats.interval.seconds": "1"}
    pair.put(name, pair.config("Heartbeat", alias, "paris", more))

    def beats() -> list[Heartbeat]:
        found = []
        for _, key, value, _, _ in consumed(pair.target, "heartbeats"):
            try:
                found.append(Heartbeat.read(key or b"", value or b""))
            except DataError:
                pytest.fail(f"no heartbeat: {key!r} {value!r}")
        return [beat for beat in found if beat.source == alias]

    wait_until(lambda: len(beats()) >= 2, SECONDS, "two heartbeats")
    assert {beat.target for beat in beats()} == {"paris"}
    pair.delete(name)


@pytest.mark.long
@pytest.mark.parametrize(
    ("spec", "title"),
    [(spec, title) for spec in (SOURCE, CHECKPOINT, HEARTBEAT) for title in spec.examples],
    ids=lambda each: each if isinstance(each, str) else each.task_class_name.rpartition(".")[2],
)
def test_an_example_runs(pair: Pair, spec: PluginSpec, title: str) -> None:
    group, name = unique("group"), unique("example")
    topic = create_topic(pair.source, unique("invoices-x"))
    produce(pair.source, topic, [b"one"])
    read(pair.source, group, [topic], 1)
    example = {
        key: value.replace("localhost:19092", pair.source).replace("localhost:9092", pair.target)
        for key, value in spec.examples[title].items()
    }
    pair.put(name, {"connector.class": spec.class_name, **example})
    if spec is SOURCE:
        identity = "IdentityReplicationPolicy" in example.get("replication.policy.class", "")
        remote = topic if identity else f"berlin.{topic}"
        wait_until(lambda: consumed(pair.target, remote), SECONDS, f"{remote} has the record")
    pair.runs(name)
    pair.delete(name)
