"""The status topic: Kafka Connect's bytes, and what the service reads from the worker properties."""

from __future__ import annotations

import pytest
from copycat_connect.cluster import Instance
from copycat_connect.errors import ConfigError
from copycat_connect.retry import RetryPolicy
from copycat_eventlog.json_text import MalformedError
from copycat_eventlog.log import Record
from copycat_eventlog.settings import Backend
from copycat_status.adapters.codec import StatusCodec
from copycat_status.domain.events import (
    StatusEvent,
    StatusForgotten,
    StatusSet,
    TopicActive,
    TopicForgotten,
)
from copycat_status.domain.status import State, Status
from copycat_status.settings import read_settings

CODEC = StatusCodec()
WORKER = "127.0.0.1:18083"
# Written by Apache Kafka Connect 4.3.1.
RECORDED: list[tuple[str, str | None, StatusEvent]] = [
    (
        "status-connector-probe-file",
        '{"state":"RUNNING","trace":null,"worker_id":"127.0.0.1:18083","generation":22,"version":"4.3.1"}',
        StatusSet(Instance("probe-file"), Status(State.RUNNING, WORKER, 22, version="4.3.1")),
    ),
    (
        "status-task-probe-file-0",
        '{"state":"UNASSIGNED","trace":null,"worker_id":"127.0.0.1:18083","generation":23,"version":null}',
        StatusSet(Instance("probe-file", 0), Status(State.UNASSIGNED, WORKER, 23)),
    ),
    (
        "status-topic-probe-out:connector-probe-file",
        '{"topic":{"name":"probe-out","connector":"probe-file","task":0,"discoverTimestamp":1795269884473}}',
        TopicActive("probe-out", "probe-file", 0, 1795269884473),
    ),
    ("status-connector-probe-file", None, StatusForgotten(Instance("probe-file"))),
    ("status-task-probe-file-0", None, StatusForgotten(Instance("probe-file", 0))),
    ("status-topic-probe-out:connector-probe-file", None, TopicForgotten("probe-out", "probe-file")),
]


def record(key: str, value: str | None) -> Record:
    return Record(key.encode(), None if value is None else value.encode())


@pytest.mark.parametrize(("key", "value", "event"), RECORDED)
def test_what_kafka_connect_wrote_is_read(key: str, value: str | None, event: StatusEvent) -> None:
    assert CODEC.decode(record(key, value)) == event


@pytest.mark.parametrize(("key", "value", "event"), RECORDED)
def test_what_kafka_connect_wrote_is_written_byte_for_byte(
    key: str, value: str | None, event: StatusEvent
) -> None:
    assert CODEC.encode(event) == record(key, value)


def test_a_trace_keeps_its_lines() -> None:
    event = StatusSet(Instance("zürich", 0), Status(State.FAILED, "w", 1, trace="Ärger\n\tat line 1"))

    assert CODEC.decode(CODEC.encode(event)) == event


def test_a_status_without_version_and_with_fields_of_tomorrow_is_read() -> None:
    value = '{"generation":1,"extra":{},"worker_id":"w","state":"PAUSED","trace":null}'

    assert CODEC.decode(record("status-connector-a", value)) == StatusSet(
        Instance("a"), Status(State.PAUSED, "w", 1)
    )


@pytest.mark.parametrize("connector", ["a-0", "a:b", "connector-a", ":connector-x", "x-"])
def test_names_may_look_like_keys(connector: str) -> None:
    status = Status(State.RUNNING, "w", 1)

    for event in (
        StatusSet(Instance(connector), status),
        StatusSet(Instance(connector, 3), status),
        TopicActive("connector-t", connector, 0, 1),
    ):
        assert CODEC.decode(CODEC.encode(event)) == event


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("status-connector-", None),
        ("status-connector-a", "no json"),
        ("status-connector-a", '{"state":"GONE","trace":null,"worker_id":"w","generation":1}'),
        ("status-connector-a", '{"state":"RUNNING","trace":null,"worker_id":"w","generation":"1"}'),
        ("status-connector-a", '{"state":"RUNNING","trace":null,"worker_id":"w","generation":1.0}'),
        ("status-connector-a", '{"state":"RUNNING","trace":7,"worker_id":"w","generation":1}'),
        ("status-task-a", None),
        ("status-task-a-b", None),
        ("status-topic-t", None),
        ("status-topic-:connector-a", None),
        ("status-topic-t:connector-", None),
        ("status-topic-t:connector-a", '{"name":"t"}'),
        ("status-topic-t:connector-a", '{"topic":{"task":"0","discoverTimestamp":1}}'),
        ("foreign", "{}"),
    ],
)
def test_a_malformed_or_foreign_record_states_nothing(key: str, value: str | None) -> None:
    with pytest.raises(MalformedError):
        CODEC.decode(record(key, value))


REQUIRED = {"group.id": "peer", "status.storage.topic": "peer-status", "bootstrap.servers": "kafka:9092"}
RETRY = "status.storage.retry."


@pytest.mark.row("KRETRY-01", "KRETRY-02", "KRETRY-03", "KRETRY-04", "KRETRY-05", "KRETRY-20")
def test_the_settings_of_a_kafka_connect_worker_are_enough() -> None:
    settings = read_settings({**REQUIRED, "offset.storage.topic": "peer-offsets"})

    assert settings.log.topic == "peer-status"
    assert (settings.log.partitions, settings.log.replication_factor) == (5, 3)
    assert settings.log.owner_id == "copycat-status-peer"
    assert settings.retries.policy == RetryPolicy(
        first=0.3, factor=2.0, ceiling=10.0, jitter=0.25, max_retries=5
    )
    assert (settings.tracking.enabled, settings.tracking.resettable) == (True, True)


@pytest.mark.parametrize("missing", ["group.id", "status.storage.topic"])
def test_a_missing_setting_is_named(missing: str) -> None:
    properties = {key: value for key, value in REQUIRED.items() if key != missing}

    with pytest.raises(ConfigError) as refusal:
        read_settings(properties)

    assert refusal.value.message == f'Missing required configuration "{missing}" which has no default value.'


def test_in_memory_nothing_is_required() -> None:
    assert read_settings({"storage.backend": "memory"}).log.backend is Backend.MEMORY


@pytest.mark.row("KRETRY-07", "KRETRY-T04")
def test_retry_settings_are_no_topic_settings() -> None:
    log = read_settings(
        {
            **REQUIRED,
            f"{RETRY}max.retries": "10",
            f"{RETRY}initial.backoff.ms": "1",
            f"{RETRY}max.backoff.ms": "30000",
            f"{RETRY}backoff.multiplier": "1.5",
            f"{RETRY}jitter.factor": "0",
            "status.storage.cleanup.policy": "delete",
            "status.storage.segment.ms": "60000",
        }
    ).log

    assert log.topic_configs == {"segment.ms": "60000"}


@pytest.mark.row("KRETRY-25")
def test_the_tuning_for_unstable_networks_is_read() -> None:
    backoff = read_settings(
        {**REQUIRED, f"{RETRY}max.retries": "10", f"{RETRY}max.backoff.ms": "30000"}
    ).retries.policy

    assert (backoff.max_retries, backoff.ceiling) == (10, 30.0)


@pytest.mark.row("KRETRY-26")
def test_the_endless_retries_of_old_can_be_had() -> None:
    assert (
        read_settings({**REQUIRED, f"{RETRY}max.retries": "2147483647"}).retries.policy.max_retries
        == 2**31 - 1
    )


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("max.retries", "-1"),
        ("max.retries", "2147483648"),
        ("initial.backoff.ms", "-1"),
        ("max.backoff.ms", "-1"),
        ("backoff.multiplier", "0.99"),
        ("jitter.factor", "-0.1"),
        ("jitter.factor", "1.1"),
    ],
)
@pytest.mark.row("KRETRY-01", "KRETRY-02", "KRETRY-03", "KRETRY-04", "KRETRY-05", "KRETRY-T01")
def test_a_retry_setting_out_of_range_is_named(key: str, value: str) -> None:
    with pytest.raises(ConfigError, match=f"for configuration {RETRY}{key}"):
        read_settings({**REQUIRED, RETRY + key: value})


@pytest.mark.row("KRETRY-06", "KRETRY-T01")
def test_the_first_wait_may_equal_the_longest_but_not_exceed_it() -> None:
    read_settings({**REQUIRED, f"{RETRY}initial.backoff.ms": "10000"})

    with pytest.raises(ConfigError) as refusal:
        read_settings({**REQUIRED, f"{RETRY}initial.backoff.ms": "10001"})

    assert f"{RETRY}initial.backoff.ms=10001" in refusal.value.message
    assert f"{RETRY}max.backoff.ms=10000" in refusal.value.message


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("status.storage.partitions", "0"),
        ("status.storage.replication.factor", "-2"),
        ("topic.tracking.enable", "no"),
    ],
)
def test_a_wrong_setting_is_named(key: str, value: str) -> None:
    with pytest.raises(ConfigError, match=f"Invalid value {value} for configuration {key}"):
        read_settings({**REQUIRED, key: value})
