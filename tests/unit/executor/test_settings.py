from __future__ import annotations

import pytest
from copycat_connect.errors import ConfigError
from copycat_executor.settings import read_settings


def test_nothing_need_be_set() -> None:
    settings = read_settings({})
    assert settings.listen == "127.0.0.1:9105"
    assert settings.scheduler == ("127.0.0.1:9104",)
    assert (settings.drain, settings.lifetime, settings.spares) == (5.0, 1800.0, 1)
    assert settings.topic_tracking


def test_several_instances_of_a_service_are_a_list() -> None:
    assert read_settings({"status.addresses": "a:1, b:2"}).status == ("a:1", "b:2")


def test_a_wrong_value_is_named() -> None:
    with pytest.raises(ConfigError, match=r"host\.max\.lifetime\.ms"):
        read_settings({"host.max.lifetime.ms": "soon"})
