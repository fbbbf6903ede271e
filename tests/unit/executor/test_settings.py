from __future__ import annotations

import pytest
from copycat_connect.errors import ConfigError
from copycat_executor.pipeline.task.timing import Timing
from copycat_executor.settings import read_settings


def test_nothing_need_be_set() -> None:
    settings = read_settings({})
    assert settings.listen == "127.0.0.1:9105"
    assert settings.addresses.scheduler == ("127.0.0.1:9104",)
    assert (settings.drain, settings.lifetime, settings.spares) == (5.0, 1800.0, 1)
    assert settings.topic_tracking


def test_several_instances_of_a_service_are_a_list() -> None:
    assert read_settings({"status.addresses": "a:1, b:2"}).addresses.status == ("a:1", "b:2")


def test_a_wrong_value_is_named() -> None:
    with pytest.raises(ConfigError, match=r"host\.max\.lifetime\.ms"):
        read_settings({"host.max.lifetime.ms": "soon"})


def test_exactly_once_may_be_disabled() -> None:
    read_settings({"exactly.once.source.support": "disabled"})


def test_a_misspelt_value_of_exactly_once_names_the_right_ones() -> None:
    with pytest.raises(ConfigError, match=r"must be one of .*: DISABLED, ENABLED, PREPARING"):
        read_settings({"exactly.once.source.support": "on"})


@pytest.mark.parametrize("key", ["offset.flush.interval.ms", "offset.flush.timeout.ms"])
@pytest.mark.parametrize("value", ["abc", "-1", "0", ""])
def test_a_wrong_time_of_commits_is_refused_at_the_start_and_not_by_each_task(key: str, value: str) -> None:
    with pytest.raises(ConfigError, match=key.replace(".", r"\.")):
        read_settings({key: value})


def test_an_unknown_override_policy_is_refused_at_the_start() -> None:
    with pytest.raises(ConfigError, match=r"Nobody.*connector\.client\.config\.override\.policy"):
        read_settings({"connector.client.config.override.policy": "Nobody"})


def test_offsets_are_committed_every_five_seconds_unless_the_worker_says_otherwise() -> None:
    assert Timing.parse({}).commit_interval == 5.0
    assert Timing.parse({"offset.flush.interval.ms": "250"}).commit_interval == 0.25
