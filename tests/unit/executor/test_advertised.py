"""How an executor is known to others."""

from __future__ import annotations

import pytest
from copycat_connect.errors import ConfigError
from copycat_executor.settings import read_settings
from copycat_executor.worker.advertised import advertised_address


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
