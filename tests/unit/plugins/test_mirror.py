"""The mirror: which topics it takes and what they are called, its internal records, its offsets.

The bytes, and `recorded/mirror_translation.txt`, come from a run of the Java classes of Kafka 4.3.1 with the
values below; a line there is whether history is dropped at the start, the syncs with an R where the topic was
read to its end, and questions with their answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest
from confluent_kafka.admin import ConfigEntry
from copycat_connect.errors import ConfigError, ConnectError, DataError
from copycat_mirror.checkpoint.connector import MirrorCheckpointConnector
from copycat_mirror.checkpoint.task import Checkpoints
from copycat_mirror.clients import Clients
from copycat_mirror.cluster import MirrorCluster
from copycat_mirror.names import DefaultPolicy, IdentityPolicy, NameFilter
from copycat_mirror.offsets import check_offsets
from copycat_mirror.records import Checkpoint, Heartbeat, OffsetSync
from copycat_mirror.source.connector import MirrorSourceConnector
from copycat_mirror.source.sync_writer import SyncPlan
from copycat_mirror.source.topics import TopicMirror
from copycat_mirror.syncs import OffsetTranslation

SOURCE = {"source.cluster.alias": "a", "source.cluster.bootstrap.servers": "localhost:1"}


@pytest.mark.parametrize(
    ("topic", "source", "upstream", "original"),
    [
        ("orders", None, None, "orders"),
        ("a.orders", "a", "orders", "orders"),
        ("a.b.orders", "a", "b.orders", "orders"),
        ("a.", None, None, "a."),
        (".orders", "", "orders", "orders"),
    ],
)
def test_names_tell_where_a_topic_came_from(
    topic: str, source: str | None, upstream: str | None, original: str
) -> None:
    policy = DefaultPolicy("a")
    found = (policy.source_of(topic), policy.upstream_topic(topic), policy.original_topic(topic))
    assert found == (source, upstream, original)


def test_a_topic_that_passed_through_the_target_would_loop() -> None:
    policy = DefaultPolicy("a")
    assert [topic for topic in ("t", "b.t", "c.b.t", "c.t") if policy.would_loop(topic, "b")] == [
        "b.t",
        "c.b.t",
    ]


def test_the_identity_policy_changes_heartbeats_only() -> None:
    policy = IdentityPolicy("a")
    assert [policy.remote_topic("a", topic) for topic in ("t", "heartbeats")] == ["t", "a.heartbeats"]
    assert (policy.source_of("t"), policy.source_of("c.heartbeats"), policy.upstream_topic("t")) == (
        "a",
        "c",
        "t",
    )
    assert not policy.would_loop("t", "b")


class OneKafka(MirrorCluster):
    """Topics in memory: where source and target are the same, copies come back."""

    def __init__(self, *topics: str) -> None:
        self.there = dict.fromkeys(topics, 1)

    def topics(self) -> dict[str, int]:
        return dict(self.there)

    def topic_configs(self, topics: Iterable[str]) -> dict[str, dict[str, ConfigEntry]]:
        return {topic: {} for topic in topics}

    def create_topic(
        self, name: str, partitions: int, replication: int, config: Mapping[str, str] | None = None
    ) -> bool:
        del replication, config
        return self.there.setdefault(name, partitions) == partitions


@pytest.mark.parametrize("policy", ["Default", "Identity"])
def test_heartbeats_that_come_back_are_not_copied_again_and_again(policy: str) -> None:
    config = {
        **SOURCE,
        "topics": "orders",
        "replication.policy.separator": "_",
        "replication.policy.class": f"org.apache.kafka.connect.mirror.{policy}ReplicationPolicy",
    }
    kafka = OneKafka("orders", "heartbeats", "b_heartbeats")
    mirror = TopicMirror(config, kafka, kafka)
    for _ in range(3):
        assert [*mirror.follow()] == ["orders", "heartbeats", "b_heartbeats"]
    assert "a_a_heartbeats" not in kafka.there
    assert mirror.missing is not None
    assert "a_heartbeats" in mirror.missing
    assert "producer.override.bootstrap.servers" in mirror.missing


def test_copies_of_any_topic_that_come_back_are_named() -> None:
    kafka = OneKafka("orders")
    mirror = TopicMirror({**SOURCE, "topics": ".*"}, kafka, kafka)
    mirror.follow()
    assert mirror.missing is None
    mirror.follow()
    assert mirror.missing is not None
    assert "a.orders" in mirror.missing
    apart = TopicMirror({**SOURCE, "topics": ".*"}, OneKafka("orders", "b.a.orders"), kafka)
    apart.follow()
    assert apart.missing is None


def test_internal_topics_are_told_from_others() -> None:
    policy = DefaultPolicy("a", "_")
    internal = ["__x", ".x", "x-internal", "x.internal", "x_internal"]
    assert [topic for topic in [*internal, "internal", "x"] if policy.is_internal(topic)] == internal
    assert policy.offset_syncs_topic("b") == "mm2-offset-syncs_b_internal"
    assert policy.checkpoints_topic("a") == "a_checkpoints_internal"
    dotted = DefaultPolicy("a", "_", separator_in_internal_topics=False)
    assert dotted.checkpoints_topic("a") == "a.checkpoints.internal"


def test_patterns_match_whole_names_and_exclusion_wins() -> None:
    chosen = NameFilter({"topics": ["orders", "in.*"]}, {"topics.exclude": [".*-old"]})
    assert [name for name in ("orders", "orders2", "invoices", "in-old") if chosen.takes(name)] == [
        "orders",
        "invoices",
    ]
    assert not NameFilter({"topics": []}, {}).takes("orders")


def test_syncs_are_planned_for_the_first_record_after_gaps_and_when_they_lag() -> None:
    plan = SyncPlan(100)

    def named(first: int, end: int) -> dict[int, bool]:
        marks = plan.choose("t", 0, range(first, end))
        return {mark.upstream: mark.at_once for mark in marks.values()}

    assert named(0, 250) == {0: True, 101: True, 202: True, 249: False}
    assert named(250, 260) == {259: False}
    assert named(260, 304) == {303: True}
    assert named(310, 320) == {310: True, 319: False}
    gaps = plan.choose("t", 0, [320, 321, 330, 331])
    assert {mark.upstream: mark.at_once for mark in gaps.values()} == {330: True, 331: False}


def test_checkpoints_go_forward_unless_the_group_went_back() -> None:
    translation = OffsetTranslation()
    translation.add(OffsetSync("t", 0, 0, 0))
    translation.add(OffsetSync("t", 0, 10, 10))
    translation.ready = True
    checkpoints = Checkpoints(["g"], DefaultPolicy("a"), "a", "b")

    def news(offset: int) -> list[int]:
        return [each.downstream for each in checkpoints.advance("g", {("t", 0): (offset, "")}, translation)]

    assert [news(offset) for offset in (10, 10, 11, 12, 5, 6, 10)] == [[10], [], [11], [], [1], [], [10]]
    assert [each.topic for each in checkpoints.of("g")] == ["a.t"]
    translation.add(OffsetSync("b.home", 0, 0, 0))
    found = checkpoints.advance("g", {("b.home", 0): (0, "m")}, translation)
    assert [(each.topic, each.metadata) for each in found] == [("home", "m")]


def test_settings_of_clients_are_composed_from_prefixes() -> None:
    clients = Clients(
        {
            **SOURCE,
            "source.cluster.sasl.mechanism": "PLAIN",
            "source.cluster.fetch.min.bytes": "7",
            "consumer.fetch.min.bytes": "1",
            "source.consumer.fetch.min.bytes": "2",
            "target.consumer.fetch.min.bytes": "3",
        },
        "test",
    )
    assert clients.settings("source.cluster.", "consumer.") == {
        "bootstrap.servers": "localhost:1",
        "sasl.mechanism": "PLAIN",
        "fetch.min.bytes": "2",
    }
    with pytest.raises(ConfigError, match=r"target\.cluster\.bootstrap\.servers"):
        clients.admin("target.cluster.")


def test_a_wrong_secret_is_not_shown() -> None:
    secret = "org.example.Login required username=me password=tell-nobody;"
    config = {
        **SOURCE,
        "source.cluster.sasl.jaas.config": secret,
        "source.cluster.security.protocol": "nonsense",
    }
    with pytest.raises(ConfigError) as raised:
        Clients(config, "test").admin("source.cluster.")
    assert "tell-nobody" not in str(raised.value)
    assert "source.cluster." in str(raised.value)


def test_validation_tells_what_does_not_go_together() -> None:
    required = {**SOURCE, "exactly.once.support": "required"}
    wrong = {**SOURCE, "emit.offset-syncs.enabled": "false", "offset-syncs.topic.location": "target"}
    source, groups = MirrorSourceConnector(), MirrorCheckpointConnector()
    problems = [
        {found.name for found in connector.validate(config) if found.errors}
        for connector, config in (
            (source, required),
            (source, {**required, "consumer.isolation.level": "read_committed"}),
            (source, wrong),
            (source, {**SOURCE, "topics": "(("}),
            (groups, {**wrong, "emit.checkpoints.enabled": "false"}),
            (groups, {**wrong, "enabled": "false"}),
        )
    ]
    assert problems == [
        {"exactly.once.support"},
        set(),
        {"emit.offset-syncs.enabled"},
        {"topics"},
        {"emit.offset-syncs.enabled", "emit.checkpoints.enabled"},
        set(),
    ]


@pytest.mark.parametrize(
    ("store", "said"),
    [
        ({"type": "PEM", "location": "/dev/zero"}, "has '/dev/zero'"),
        ({"location": "trust.jks"}, "must be a PEM file"),
    ],
)
def test_a_store_that_no_client_reads_is_refused_with_its_key(store: Mapping[str, str], said: str) -> None:
    given = {f"source.cluster.ssl.truststore.{key}": value for key, value in store.items()}
    with pytest.raises(ConfigError, match=rf"source\.cluster\.ssl\.truststore\.location {said}"):
        Clients({**SOURCE, **given}, "test").admin("source.cluster.")


def test_a_small_fetch_makes_a_client_as_it_does_for_a_sink() -> None:
    Clients({**SOURCE, "consumer.fetch.max.bytes": "2000"}, "test").consumer("source.cluster.").close()


@pytest.mark.parametrize(
    ("partition", "offset"),
    [
        (None, {"offset": 1}),
        ({"cluster": "a", "topic": "t"}, {"offset": 1}),
        ({"cluster": "a", "topic": 1, "partition": 0}, {"offset": 1}),
        ({"cluster": "a", "topic": "t", "partition": -1}, {"offset": 1}),
        ({"cluster": "a", "topic": "t", "partition": 0}, {"offset": "1"}),
        ({"cluster": "a", "topic": "t", "partition": 0}, {}),
    ],
)
def test_offsets_that_no_task_understands_are_refused(
    partition: dict[str, object] | None, offset: dict[str, object]
) -> None:
    with pytest.raises(ConnectError):
        check_offsets([(partition, offset)], ("cluster", "topic"), "partition")
    check_offsets([(partition, None)], ("cluster", "topic"), "partition")


RECORDED = (Path(__file__).parent / "recorded" / "mirror_translation.txt").read_text().splitlines()
GOLDEN = [
    (
        Heartbeat("berlin", "paris", 1700000000123),
        "00066265726c696e00057061726973",
        "00000000018bcfe5687b",
    ),
    (
        Checkpoint("grüppe", "berlin.orders", 7, 1234567890123, 987, "meta"),
        "00076772c3bc707065000d6265726c696e2e6f726465727300000007",
        "00000000011f71fb04cb00000000000003db00046d657461",
    ),
    (
        OffsetSync("orders", 3, 5000000000, 42),
        "00066f726465727300000003",
        "000000012a05f200000000000000002a",
    ),
]


@pytest.mark.parametrize(("record", "key", "value"), GOLDEN, ids=lambda each: type(each).__name__)
def test_records_have_the_bytes_of_the_java_classes(
    record: Heartbeat | Checkpoint | OffsetSync, key: str, value: str
) -> None:
    assert (record.key().hex(), record.value().hex()) == (key, value)
    assert type(record).read(record.key(), record.value()) == record


@pytest.mark.parametrize(
    ("key", "value"),
    [(b"", b""), (b"\x00\x02a", b""), (b"\x00\x01a\x00\x01b", b"\x00\x01" + bytes(8)), (b"\xff\xff", b"")],
)
def test_what_is_no_record_is_refused(key: bytes, value: bytes) -> None:
    with pytest.raises(DataError):
        Heartbeat.read(key, value)


@pytest.mark.parametrize("line", RECORDED)
def test_offsets_are_translated_as_by_the_java_class(line: str) -> None:
    _, drops_history, syncs, questions = line.split()
    translation = OffsetTranslation()
    translation.keeps_history = drops_history == "false"
    for sync in filter(None, syncs.split(";")):
        if sync == "R":
            translation.ready = True
        else:
            upstream, downstream = map(int, sync.split(","))
            translation.add(OffsetSync("t", 0, upstream, downstream))
    for question in filter(None, questions.split(";")):
        offset, answer = question.split(",")
        found = translation.translate("t", 0, int(offset))
        assert (offset, "none" if found is None else str(found)) == (offset, answer)


def test_nothing_is_translated_before_all_syncs_were_read() -> None:
    translation = OffsetTranslation()
    translation.add(OffsetSync("t", 0, 5, 5))
    assert translation.translate("t", 0, 5) is None
    translation.ready = True
    assert translation.translate("t", 0, 5) == 5
    assert translation.translate("t", 1, 5) is None
