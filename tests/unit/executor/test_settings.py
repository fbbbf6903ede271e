"""How an executor is known to others.

.
"""

from __future__ import annotations

import pytest
from copycat_connect.errors import ConfigError
from copycat_executor.pipeline.task.timing import Timing
from copycat_executor.settings import read_settings
from copycat_executor.worker.membership import advertised_address


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


async def test_it_is_known_by_what_it_listens_on() -> None:
    assert await advertised_address(read_settings({}), "127.0.0.1:9105", "here") == "127.0.0.1:9105"


@pytest.mark.parametrize("host", ["0.0.0.0", "[::]", ""])  # noqa: S104 - recognised, not bound
async def test_listening_everywhere_it_is_known_by_the_name_of_its_machine(host: str) -> None:
    assert await advertised_address(read_settings({}), f"{host}:9105", "localhost") == "localhost:9105"


async def test_what_the_settings_say_wins() -> None:
    settings = read_settings({"executor.advertised.address": "a.example:1"})
    assert await advertised_address(settings, "0.0.0.0:9105", "localhost") == "a.example:1"


async def test_a_name_nobody_can_look_up_is_refused_naming_the_setting() -> None:
    with pytest.raises(ConfigError, match=r"set executor\.advertised\.address"):
        await advertised_address(read_settings({}), "0.0.0.0:9105", "no such name")


@pytest.mark.parametrize("address", ["0.0.0.0:9105", "[::]:9105", "executor", ":9105", "executor:port"])
def test_an_address_nobody_can_reach_is_refused(address: str) -> None:
    with pytest.raises(ConfigError, match=r"executor\.advertised\.address"):
        read_settings({"executor.advertised.address": address})
