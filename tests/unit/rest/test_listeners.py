"""Listeners, and the URLs they make.

Whether this machine can call its own listener is known at the start.
"""

from __future__ import annotations

import socket
from collections.abc import Sequence
from pathlib import Path

import pytest
from copycat_connect.errors import ConfigError
from copycat_rest.advertised import advertised_url, local_url
from copycat_rest.contexts import own_context, server_context
from copycat_rest.listeners import parse_listener
from copycat_testkit.certificates import SERVER, Authority
from copycat_tls.keys import REST_PREFIX, read_tls
from cryptography.x509 import ObjectIdentifier


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


LISTENERS = {"listeners": "https://127.0.0.1:0"}


def keys(keystore: Path, **more: object) -> dict[str, str]:
    given = {"keystore.type": "PEM", "keystore.location": keystore, "truststore.type": "PEM"}
    more = {name.replace("_", "."): value for name, value in more.items()}
    return {f"{REST_PREFIX}ssl.{key}": str(value) for key, value in {**given, **more}.items()}


def test_http_needs_no_tls(tmp_path: Path) -> None:
    file = Authority(tmp_path).pem("server")

    assert own_context({"listeners": "https://h:1,http://h:2", **keys(file)}) is None


def test_it_trusts_its_own_certificate_whoever_signed_it(tmp_path: Path) -> None:
    file = Authority(tmp_path).pem("server", uses=(SERVER,))

    assert own_context(LISTENERS | keys(file)) is not None


@pytest.mark.parametrize("protocol", ["TLSv1.2", "TLSv1.3"])
def test_it_is_its_own_client_where_clients_must_be_known(tmp_path: Path, protocol: str) -> None:
    authority = Authority(tmp_path)
    trust = {"truststore_location": authority.file, "enabled_protocols": protocol}

    assert own_context(LISTENERS | keys(authority.pem("server"), client_auth="required", **trust)) is not None


@pytest.mark.parametrize("protocol", ["TLSv1.2", "TLSv1.3"])
@pytest.mark.parametrize(
    ("authority", "uses", "days", "key", "reason"),
    [
        ("stranger", (SERVER,), 1, "truststore", "unable to get local issuer certificate"),
        ("authority", (SERVER,), 1, "truststore", "purpose"),
        ("authority", (SERVER,), -1, "keystore", "certificate has expired"),
    ],
)
def test_a_listener_that_would_not_let_its_machine_in_is_refused(  # noqa: PLR0917 - the cases
    tmp_path: Path,
    authority: str,
    uses: Sequence[ObjectIdentifier],
    days: int,
    key: str,
    reason: str,
    protocol: str,
) -> None:
    file = Authority(tmp_path).pem("server", uses=uses, days=days)
    trusted = tmp_path / "authority.pem" if authority == "authority" else Authority(tmp_path, "stranger").file
    more = {"truststore_location": trusted, "client_auth": "required", "enabled_protocols": protocol}
    with pytest.raises(ConfigError, match=reason) as refused:
        own_context(LISTENERS | keys(file, **more))

    assert refused.value.fields == {"key": f"{REST_PREFIX}ssl.{key}.location"}


def test_clients_cannot_be_known_without_a_truststore(tmp_path: Path) -> None:
    file = Authority(tmp_path).pem("server")
    with pytest.raises(ConfigError, match=r"https\.ssl\.truststore\.location is not set"):
        server_context(read_tls(keys(file, client_auth="requested"), REST_PREFIX))
