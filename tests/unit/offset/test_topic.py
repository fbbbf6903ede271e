"""The offsets topic: which records are read, and what the service reads from the worker properties."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka.cimpl import NewTopic
from copycat_connect.cluster import source_offset_key
from copycat_connect.errors import ConfigError, LogLostError
from copycat_eventlog.brokers import Brokers
from copycat_eventlog.log import Record
from copycat_eventlog.owner import owner_topic
from copycat_eventlog.settings import Backend
from copycat_eventlog.topics import ensure_log_topic, ensure_owner_topic
from copycat_eventlog.unreadable import decode
from copycat_offset.adapters.codec import OffsetCodec
from copycat_offset.domain.events import ChangeForgotten, SourceOffsetCommitted, SourceOffsetForgotten
from copycat_offset.settings import read_settings


@pytest.mark.parametrize(
    "key",
    [
        b"",
        b"x",
        b"[]",
        b'["a"]',
        b'["a",1]',
        b'["a",[]]',
        b'[1,{"a":1}]',
        b'["a",{"b":1},2]',
        b'["a", {"b":1}]',
        b'["\\u00e4",{"b":1}]',
        b'["a",{"b":}]',
        b'["a",{"b":1}',
        b"\xff",
    ],
)
def test_a_key_kafka_connect_would_not_have_written_is_passed_over(key: bytes) -> None:
    found = decode(OffsetCodec(), Record(key, b"{}"))
    assert (found.event, bool(found.why)) == (None, True)


def test_key_order_and_number_format_of_a_partition_survive() -> None:
    partition = b'{"b":1.50,"a":1e3}'
    assert OffsetCodec().decode(Record(b'["c",%b]' % partition, b"{}")) == SourceOffsetCommitted(
        "c", partition, b"{}"
    )


def test_names_are_written_unescaped_but_for_what_json_needs() -> None:
    assert source_offset_key('gr"öße\t', b"{}") == '["gr\\"öße\\t",{}]'.encode()


@pytest.mark.parametrize("value", [None, b"null", b"7", b"{", b"\xff", b"[]"])
def test_a_value_that_is_no_map_reads_as_no_offset(value: bytes | None) -> None:
    found = decode(OffsetCodec(), Record(b'["c",null]', value))
    assert found.event == SourceOffsetForgotten("c", b"null")


@pytest.mark.parametrize(
    "value",
    [
        None,
        b"null",
        b"{",
        b"{}",
        b'{"changed_at":1,"group":"","source":[1],"sink":[]}',
        b'{"changed_at":1,"group":"","source":[],"sink":[{"topic":"t","partition":0,"before":"1"}]}',
    ],
)
def test_a_change_that_cannot_be_read_is_none(value: bytes | None) -> None:
    assert decode(OffsetCodec(), Record(b'["\\u0000undo:c",null]', value)).event == ChangeForgotten("c")


WORKER = {"group.id": "g", "offset.storage.topic": "o", "bootstrap.servers": "k:9092"}


def test_defaults_are_kafka_connects() -> None:
    settings = read_settings(WORKER)
    assert settings.listen == "127.0.0.1:9102"
    assert settings.scheduler_addresses == ("127.0.0.1:9104",)
    log = settings.log
    assert (log.backend, log.topic, log.partitions, log.replication_factor) == (Backend.KAFKA, "o", 25, 3)


def test_other_storage_properties_configure_the_topic_but_never_its_clean_up() -> None:
    more = {"offset.storage.min.insync.replicas": "2", "offset.storage.cleanup.policy": "delete"}
    assert read_settings({**WORKER, **more}).log.topic_configs == {"min.insync.replicas": "2"}


def test_security_properties_reach_every_client() -> None:
    settings = read_settings({**WORKER, "security.protocol": "SSL", "producer.acks": "1"})
    assert settings.client_config == settings.log.client_config == {"security.protocol": "SSL"}


def test_a_standalone_worker_keeps_offsets_in_its_file() -> None:
    settings = read_settings({"storage.backend": "memory", "offset.storage.file.filename": "offsets.bin"})
    assert (settings.log.backend, settings.log.file) == (Backend.MEMORY, "offsets.bin")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("offset.storage.partitions", "0"),
        ("offset.storage.replication.factor", "0"),
        ("storage.backend", "disk"),
        ("scheduler.addresses", ""),
    ],
)
def test_a_wrong_value_names_its_key(key: str, value: str) -> None:
    with pytest.raises(ConfigError) as refused:
        read_settings({**WORKER, key: value})
    assert key in refused.value.message


def test_the_topic_has_to_be_named() -> None:
    with pytest.raises(ConfigError, match=r"offset\.storage\.topic"):
        read_settings({"group.id": "g"})


class Cluster(Brokers):
    """A cluster with the service's own topics, in which others are made at once."""

    def __init__(self, *topics: str) -> None:
        led: Any = SimpleNamespace(partitions={0: SimpleNamespace(leader=1)})
        self._led, self._topics = led, dict.fromkeys(topics, led)

    @property
    def client(self) -> Any:
        return self

    def topics(self) -> Mapping[str, Any]:
        return dict(self._topics)

    def create_topics(self, wanted: list[NewTopic]) -> dict[str, Future[None]]:
        made: Future[None] = Future()
        made.set_result(None)
        self._topics |= dict.fromkeys((each.topic for each in wanted), self._led)
        return dict.fromkeys((each.topic for each in wanted), made)

    def ask(self, future: Future[Any]) -> Any:
        return future.result(0)


def test_a_new_topic_of_a_connector_is_no_lost_one() -> None:
    """Nobody had it before, though the service has its own: Kafka Connect creates it (KIP-618)."""
    settings = read_settings(WORKER)
    owned = owner_topic(settings.log.owner_id)
    cluster = Cluster("o", owned)

    assert ensure_log_topic(cluster, replace(settings.own_topics, topic="orders-offsets")) == 1
    assert "orders-offsets" in cluster.topics()
    accepting = read_settings({**WORKER, "lost.topics.accept": "o"}).own_topics
    assert not accepting.loss_accepted, "it would have topics of connectors compacted"
    with pytest.raises(LogLostError, match=r"'o' .* is not there"):
        ensure_log_topic(Cluster(owned), settings.log)


def test_topics_that_are_not_to_be_made_are_asked_for_by_name() -> None:
    """KIP-1209, with Kafka Connect's text; so are those that Kafka Connect does not have."""
    settings = read_settings({**WORKER, "internal.topics.automatic.creation.enable": "false"})
    elects = owner_topic(settings.log.owner_id)
    empty = Cluster()
    rest = (
        "is missing. The config 'internal.topics.automatic.creation.enable' is set to 'false', so automatic "
        "creation of internal topics is disabled. Either enable automatic creation or create the topics "
        "manually."
    )

    with pytest.raises(ConfigError) as refused:
        ensure_log_topic(empty, settings.log)
    assert refused.value.message == f"Topic 'o' specified via the 'offset.storage.topic' property {rest}"
    with pytest.raises(
        ConfigError, match=r"^Topic 'orders' specified via the 'offsets.storage.topic' property "
    ):
        ensure_log_topic(empty, replace(settings.own_topics, topic="orders"))
    with pytest.raises(ConfigError, match=rf"^Topic '{elects}' \(1 partitions\), in which .* is missing\."):
        ensure_owner_topic(empty, settings.log)
    assert empty.topics() == {}
    ensure_owner_topic(Cluster(elects), settings.log)


def test_what_a_topic_ignores_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    read_settings({**WORKER, "offset.storage.cleanup.policy": "delete"})
    (line,) = caplog.messages
    assert "offset.storage.cleanup.policy" in line


def test_the_file_of_a_standalone_worker_has_no_blanks_around_its_name() -> None:
    settings = read_settings({"storage.backend": "memory", "offset.storage.file.filename": " offsets.bin "})
    assert settings.log.file == "offsets.bin"
