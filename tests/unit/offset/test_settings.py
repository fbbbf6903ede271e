"""What the offset service reads from the worker properties."""

import pytest
from copycat_connect.errors import ConfigError
from copycat_eventlog.settings import Backend
from copycat_offset.settings import read_settings

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
