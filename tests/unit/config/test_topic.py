"""The config topic: Kafka Connect's bytes, and what the service reads from the worker properties."""

from __future__ import annotations

import logging

import pytest
from copycat_config.adapters.codec import ConfigCodec
from copycat_config.domain.events import (
    ConfigEvent,
    ConnectorConfigured,
    ConnectorRemoved,
    LoggerLevelSet,
    RestartRequested,
    SessionKeySet,
    TargetStateForgotten,
    TargetStateSet,
    TaskConfigured,
    TaskSetCommitted,
    TasksFenced,
)
from copycat_config.settings import read_settings
from copycat_connect.cluster import TargetState
from copycat_connect.errors import ConfigError
from copycat_eventlog.json_text import MalformedError
from copycat_eventlog.log import Record
from copycat_eventlog.settings import Backend

CODEC = ConfigCodec()
FILE_SOURCE = {
    "connector.class": "org.apache.kafka.connect.file.FileStreamSourceConnector",
    "tasks.max": "1",
    "file": "/data/in.txt",
    "topic": "probe-out",
    "name": "probe-file",
}
# Written by Apache Kafka Connect 4.3.1.
RECORDED: list[tuple[str, str | None, ConfigEvent]] = [
    (
        "connector-probe-file",
        '{"properties":{"connector.class":"org.apache.kafka.connect.file.FileStreamSourceConnector",'
        '"tasks.max":"1","file":"/data/in.txt","topic":"probe-out","name":"probe-file"}}',
        ConnectorConfigured("probe-file", FILE_SOURCE),
    ),
    (
        "task-probe-file-0",
        '{"properties":{"connector.class":"org.apache.kafka.connect.file.FileStreamSinkConnector",'
        '"name":"probe-file","file":"/tmp/x","task.class":"org.apache.kafka.connect.file.FileStreamSinkTask",'
        '"topics":"a"}}',
        TaskConfigured(
            "probe-file",
            0,
            {
                "connector.class": "org.apache.kafka.connect.file.FileStreamSinkConnector",
                "name": "probe-file",
                "file": "/tmp/x",  # noqa: S108 - as it was recorded
                "task.class": "org.apache.kafka.connect.file.FileStreamSinkTask",
                "topics": "a",
            },
        ),
    ),
    ("commit-probe-file", '{"tasks":1}', TaskSetCommitted("probe-file", 1)),
    ("commit-probe-file", '{"tasks":0}', TaskSetCommitted("probe-file", 0)),
    (
        "target-state-probe-file",
        '{"state":"STARTED","state.v2":"STARTED"}',
        TargetStateSet("probe-file", TargetState.STARTED),
    ),
    (
        "target-state-probe-file",
        '{"state":"PAUSED","state.v2":"PAUSED"}',
        TargetStateSet("probe-file", TargetState.PAUSED),
    ),
    (
        "target-state-probe-init",
        '{"state":"PAUSED","state.v2":"STOPPED"}',
        TargetStateSet("probe-init", TargetState.STOPPED),
    ),
    ("connector-probe-file", None, ConnectorRemoved("probe-file")),
    ("target-state-probe-file", None, TargetStateForgotten("probe-file")),
    (
        "restart-connector-probe-file",
        '{"include-tasks":true,"only-failed":false}',
        RestartRequested("probe-file", include_tasks=True, only_failed=False),
    ),
    ("tasks-fencing-probe-eos-src", '{"task-count":1}', TasksFenced("probe-eos-src", 1)),
    (
        "logger-cluster-org.apache.kafka.connect.probe",
        '{"level":"ERROR"}',
        LoggerLevelSet("org.apache.kafka.connect.probe", "ERROR"),
    ),
    (
        "session-key",
        '{"key":"c2VjcmV0","algorithm":"HmacSHA256","creation-timestamp":1795267458193}',
        SessionKeySet("c2VjcmV0", "HmacSHA256", 1795267458193),
    ),
]
#: The target state that Apache Kafka Connect 3.4.1, which knows no STOPPED, answers PAUSED to:
#: `tests/compat/test_older_connect.py` asks it.
TAKEN_FOR_PAUSED = '{"state":"PAUSED","state.v2":"STOPPED"}'


def record(key: str, value: str | None) -> Record:
    return Record(key.encode(), None if value is None else value.encode())


@pytest.mark.parametrize(("key", "value", "event"), RECORDED)
def test_what_kafka_connect_wrote_is_read(key: str, value: str | None, event: ConfigEvent) -> None:
    assert CODEC.decode(record(key, value)) == event


@pytest.mark.parametrize(("key", "value", "event"), RECORDED)
@pytest.mark.row("K875-42")
def test_what_kafka_connect_wrote_is_written_byte_for_byte(
    key: str, value: str | None, event: ConfigEvent
) -> None:
    assert CODEC.encode(event) == record(key, value)


@pytest.mark.row("K875-44")
def test_what_is_stopped_is_written_as_an_older_kafka_connect_takes_it_for_paused() -> None:
    assert CODEC.encode(TargetStateSet("a", TargetState.STOPPED)) == record(
        "target-state-a", TAKEN_FOR_PAUSED
    )


def test_text_is_written_unescaped_and_null_stays_null() -> None:
    event = ConnectorConfigured("zürich", {"city": "Zürich/東京", "none": None})
    written = CODEC.encode(event)

    assert written.value == '{"properties":{"city":"Zürich/東京","none":null}}'.encode()
    assert CODEC.decode(written) == event


@pytest.mark.parametrize(
    ("key", "event"),
    [
        ("task-my-conn-0", TaskConfigured("my-conn", 0, {})),
        ("task-a-1-2", TaskConfigured("a-1", 2, {})),
        ("task-dash--3", TaskConfigured("dash-", 3, {})),
        ("connector-task-x-0", ConnectorConfigured("task-x-0", {})),
        ("connector-connector-x", ConnectorConfigured("connector-x", {})),
    ],
)
def test_names_may_look_like_keys(key: str, event: ConfigEvent) -> None:
    assert CODEC.decode(record(key, '{"properties":{}}')) == event


@pytest.mark.parametrize(
    ("value", "target"),
    [
        ('{"state":"PAUSED"}', TargetState.PAUSED),
        ('{"state.v2":"STOPPED","extra":[1],"state":"PAUSED"}', TargetState.STOPPED),
        ('{"state":"PAUSED","state.v2":7}', TargetState.PAUSED),
    ],
)
@pytest.mark.row("K875-43")
def test_a_target_state_of_any_age_is_read(value: str, target: TargetState) -> None:
    assert CODEC.decode(record("target-state-a", value)) == TargetStateSet("a", target)


def test_restart_flags_that_are_missing_or_odd_are_false() -> None:
    value = '{"include-tasks":"true"}'

    assert CODEC.decode(record("restart-connector-a", value)) == RestartRequested("a", False, False)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("unknown-a", "{}"),
        ("connector-a", "not json"),
        ("connector-a", "[]"),
        ("connector-a", '{"properties":[]}'),
        ("connector-a", '{"properties":{"tasks.max":1}}'),
        ("connector-a", '{"properties":{"k":"\\ud800"}}'),
        ("connector-a", "[" * 100_000),
        ("task-a", '{"properties":{}}'),
        ("task-a-b", '{"properties":{}}'),
        ("task-a-99999999999", '{"properties":{}}'),
        ("task-a-0", None),
        ("commit-a", '{"tasks":"1"}'),
        ("commit-a", '{"tasks":true}'),
        ("commit-a", '{"tasks":-1}'),
        ("commit-a", '{"tasks":1.0}'),
        ("commit-a", None),
        ("target-state-a", '{"state":"PAUSED","state.v2":"GONE"}'),
        ("target-state-a", '{"state":7}'),
        ("restart-connector-a", None),
        ("tasks-fencing-a", '{"tasks":1}'),
        ("session-key", None),
        ("session-key", '{"key":1,"algorithm":"HmacSHA256","creation-timestamp":1}'),
        ("logger-cluster-a", '{"level":null}'),
        ("logger-cluster-a", None),
    ],
)
def test_a_malformed_record_states_nothing(key: str, value: str | None) -> None:
    with pytest.raises(MalformedError):
        CODEC.decode(record(key, value))


def test_a_key_that_is_not_text_states_nothing() -> None:
    with pytest.raises(MalformedError):
        CODEC.decode(Record(b"connector-\xff", b'{"properties":{}}'))


REQUIRED = {"group.id": "peer", "config.storage.topic": "peer-configs", "bootstrap.servers": "kafka:9092"}


def test_the_settings_of_a_kafka_connect_worker_are_enough() -> None:
    log = read_settings({**REQUIRED, "offset.storage.topic": "peer-offsets", "plugin.path": "/x"}).log

    assert (log.backend, log.bootstrap_servers, log.topic) == (Backend.KAFKA, "kafka:9092", "peer-configs")
    assert (log.partitions, log.single_partition, log.replication_factor) == (1, True, 3)
    assert log.topic_configs == {}


def test_the_writer_is_fenced_by_the_id_of_kafka_connects_leader() -> None:
    assert read_settings(REQUIRED).log.owner_id == "connect-cluster-peer"


@pytest.mark.parametrize("missing", ["group.id", "config.storage.topic"])
def test_a_missing_setting_is_named(missing: str) -> None:
    properties = {key: value for key, value in REQUIRED.items() if key != missing}

    with pytest.raises(ConfigError) as refusal:
        read_settings(properties)

    assert refusal.value.message == f'Missing required configuration "{missing}" which has no default value.'


def test_in_memory_nothing_is_required() -> None:
    settings = read_settings({"storage.backend": "memory", "config.listen": "127.0.0.1:0"})

    assert (settings.listen, settings.log.backend) == ("127.0.0.1:0", Backend.MEMORY)


def test_other_storage_settings_configure_the_topic(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        log = read_settings(
            {
                **REQUIRED,
                "config.storage.min.insync.replicas": "2",
                "config.storage.replication.factor": "-1",
                "config.storage.cleanup.policy": "delete",
                "config.storage.partitions": "7",
            }
        ).log

    assert log.topic_configs == {"min.insync.replicas": "2"}
    assert (log.replication_factor, log.partitions) == (-1, 1)
    assert len(caplog.records) == 2


def test_only_security_settings_reach_the_clients() -> None:
    log = read_settings({**REQUIRED, "security.protocol": "SSL", "producer.linger.ms": "5"}).log

    assert log.client_config == {"security.protocol": "SSL"}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("config.storage.replication.factor", "0"),
        ("config.storage.replication.factor", "many"),
        ("storage.backend", "disk"),
        ("group.id", ""),
    ],
)
def test_a_wrong_setting_is_named(key: str, value: str) -> None:
    with pytest.raises(ConfigError, match=f"Invalid value {value} for configuration {key}"):
        read_settings({**REQUIRED, key: value})
