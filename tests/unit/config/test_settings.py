"""What the config service reads from the worker properties."""

import logging

import pytest
from copycat_config.settings import read_settings
from copycat_connect.errors import ConfigError
from copycat_eventlog.settings import Backend

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
