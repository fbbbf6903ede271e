"""A consumer goes over from the source to the target and back: it misses no record."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient
from copycat_connect.errors import DataError
from copycat_mirror.records import Checkpoint, Heartbeat, OffsetSync
from copycat_testkit.kafka import consume_all, create_topic, produce, unique, wait_until

from tests.integration.mirror.pair import SECONDS, Pair, consumed

pytestmark = [pytest.mark.timeout(400), pytest.mark.long]

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
