"""The gateway's keys of the worker properties."""

from __future__ import annotations

import pytest
from copycat_connect.errors import ConfigError
from copycat_gateway.settings import read_settings


def test_defaults_are_those_of_a_laptop() -> None:
    settings = read_settings({})

    assert [str(listener) for listener in settings.listeners] == ["http://127.0.0.1:8083"]
    assert settings.admin_listeners is None
    assert settings.addresses.config == ("127.0.0.1:9101",)
    assert settings.addresses.scheduler == ("127.0.0.1:9104",)
    assert (settings.request_timeout, settings.health_timeout) == (90.0, 10.0)


def test_lists_are_split_and_other_roles_keys_are_ignored() -> None:
    settings = read_settings(
        {"listeners": "http://:1, http://[::1]:2", "config.addresses": "a:1,b:2", "group.id": "g"}
    )

    assert [str(listener) for listener in settings.listeners] == ["http://:1", "http://[::1]:2"]
    assert settings.addresses.config == ("a:1", "b:2")


def test_extensions_keep_their_order() -> None:
    settings = read_settings({"rest.extension.classes": "b.Two, a.One"})

    assert (settings.extensions, settings.rebalance_timeout) == (("b.Two", "a.One"), 60.0)


def test_an_empty_list_of_admin_listeners_turns_admin_off() -> None:
    assert read_settings({"admin.listeners": ""}).admin_listeners == ()


def test_tls_is_read_only_for_the_listeners_that_speak_it() -> None:
    properties = {"ssl.enabled.protocols": "of another client", "admin.listeners": "https://:2"}
    with pytest.raises(ConfigError, match=r"ssl\.enabled\.protocols"):
        read_settings(properties)
    settings = read_settings({**properties, "admin.listeners.https.ssl.keystore.location": "f"})

    assert settings.tls is None
    assert settings.admin_tls is not None
    assert settings.admin_tls.keystore.location == "f"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("listeners", ""),
        ("listeners", "ftp://:8443"),
        ("rest.advertised.listener", "ftp"),
        ("rest.request.timeout.ms", "0"),
        ("rebalance.timeout.ms", "0"),
        ("response.http.headers.config", "nonsense"),
    ],
)
def test_a_wrong_setting_names_its_key(key: str, value: str) -> None:
    with pytest.raises(ConfigError, match=key.replace(".", r"\.")):
        read_settings({key: value})


def test_a_worker_may_say_nothing_about_exactly_once_but_nothing_unknown() -> None:
    for known in (
        {},
        {"exactly.once.source.support": "enabled"},
        {"exactly.once.source.support": "DISABLED"},
    ):
        read_settings({"group.id": "g", **known})
    with pytest.raises(ConfigError, match=r"Invalid value on for configuration exactly\.once"):
        read_settings({"group.id": "g", "exactly.once.source.support": "on"})
