"""What the status service reads from the worker properties."""

import pytest
from copycat_connect.errors import ConfigError
from copycat_connect.retry import RetryPolicy
from copycat_eventlog.settings import Backend
from copycat_status.settings import read_settings

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
