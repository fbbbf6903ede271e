"""Listeners, and the URLs they make."""

from __future__ import annotations

import socket

import pytest
from copycat_connect.errors import ConfigError
from copycat_rest.advertised import advertised_url, local_url
from copycat_rest.listeners import parse_listener


@pytest.mark.parametrize(
    ("text", "host", "port", "shown"),
    [
        ("http://127.0.0.1:8083", "127.0.0.1", 8083, "http://127.0.0.1:8083"),
        ("HTTP://:0", "", 0, "http://:0"),
        ("https://[::]:8443", "::", 8443, "https://[::]:8443"),
        ("http://[::1]:80", "::1", 80, "http://[::1]:80"),
        (" http://my-host.example:8083 ", "my-host.example", 8083, "http://my-host.example:8083"),
    ],
)
def test_listeners_are_read(text: str, host: str, port: int, shown: str) -> None:
    listener = parse_listener("listeners", text)

    assert (listener.host, listener.port, str(listener)) == (host, port, shown)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("ftp://h:1", "only http"),
        ("127.0.0.1:8083", "which is no listener"),
        ("http://h", "which is no listener"),
        ("http://h:65536", "which is no listener"),
        ("http://h:1/path", "which is no listener"),
        ("", "which is no listener"),
    ],
)
def test_what_cannot_be_listened_on_is_refused_with_its_key(text: str, reason: str) -> None:
    with pytest.raises(ConfigError, match=f"admin.listeners has .*{reason}") as refused:
        parse_listener("admin.listeners", text)

    assert refused.value.fields == {"key": "admin.listeners"}


@pytest.mark.parametrize(
    ("listeners", "url"),
    [
        ("https://127.0.0.1:8443", "https://127.0.0.1:8443"),
        ("https://h:8443,http://h:8083", "http://h:8083"),
        ("https://:8443", "https://127.0.0.1:8443"),
        ("http://[::]:1", "http://127.0.0.1:1"),
        ("http://[::1]:1", "http://[::1]:1"),
    ],
)
def test_this_machine_calls_http_where_it_can(listeners: str, url: str) -> None:
    assert local_url({"listeners": listeners}) == advertised_url({"listeners": listeners}) == url


@pytest.mark.parametrize(
    ("advertised", "url"),
    [
        ({"listener": "https"}, "https://b:2"),
        ({"listener": "HTTPS", "port": "443"}, "https://b:443"),
        ({"host.name": "connect.example"}, "http://connect.example:1"),
        ({"host.name": "::1", "port": "9"}, "http://[::1]:9"),
    ],
)
def test_others_are_told_what_the_keys_say(advertised: dict[str, str], url: str) -> None:
    keys = {f"rest.advertised.{key}": value for key, value in advertised.items()}

    assert advertised_url({"listeners": "http://a:1,https://b:2", **keys}) == url


def test_behind_a_proxy_the_scheme_may_be_of_no_listener() -> None:
    keys = {
        "rest.advertised.listener": "https",
        "rest.advertised.host.name": "x",
        "rest.advertised.port": "443",
    }

    assert advertised_url({"listeners": "http://127.0.0.1:1", **keys}) == "https://x:443"


def test_a_listener_for_every_address_is_advertised_with_the_machines_name() -> None:
    keys = {"listeners": "http://:1", "rest.advertised.port": "2"}

    assert advertised_url(keys) == f"http://{socket.gethostname()}:2"


@pytest.mark.parametrize(("key", "value"), [("listener", "ftp"), ("port", "x"), ("port", "65536")])
def test_a_wrong_advertised_value_names_its_key(key: str, value: str) -> None:
    with pytest.raises(ConfigError, match=rf"rest\.advertised\.{key}"):
        advertised_url({f"rest.advertised.{key}": value})
