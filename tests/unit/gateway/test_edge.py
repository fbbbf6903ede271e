"""Paths, listeners and headers."""

from __future__ import annotations

import socket

import pytest
from copycat_connect.errors import ConfigError
from copycat_gateway.edge.headers import header_rules
from copycat_gateway.edge.listeners import Listener, bind, parse_listener
from copycat_gateway.edge.paths import segment, task_number
from copycat_gateway.errors import NotFoundError
from copycat_gateway.views.connectors import location


@pytest.mark.parametrize("name", ["a/b", "100%", "ünï", "a b", "%41", "?#", "a+b", "..", "\x01"])
def test_a_location_leads_to_its_name(name: str) -> None:
    assert segment(location(name).removeprefix("/connectors/")) == name


@pytest.mark.parametrize(("text", "number"), [("0", 0), ("+5", 5), ("-1", -1), ("2147483647", 2147483647)])
def test_task_numbers_are_32_bit_integers(text: str, number: int) -> None:
    assert task_number(text) == number


@pytest.mark.parametrize("text", ["", "x", "1.0", "2147483648", "9" * 30, "%D9%A3", "1_0", " 1"])
def test_anything_else_is_an_unknown_path(text: str) -> None:
    with pytest.raises(NotFoundError, match="HTTP 404 Not Found"):
        task_number(text)


@pytest.mark.parametrize(
    ("text", "host", "port", "shown"),
    [
        ("http://127.0.0.1:8083", "127.0.0.1", 8083, "http://127.0.0.1:8083"),
        ("HTTP://:0", "", 0, "http://:0"),
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
        ("https://:8443", "TLS is not supported"),
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


def test_header_rules_are_read_with_commas_in_quotes() -> None:
    first, second, third = header_rules("k", 'set A: b, "add C: d, e", setDate Expires: 1000')

    assert (first.name, first.value, first.replaces) == ("A", "b", True)
    assert (second.name, second.value, second.replaces) == ("C", "d, e", False)
    assert third.text().endswith("GMT")


@pytest.mark.parametrize("text", ["put A: b", "set A", "set A b: c", "addDate Expires: tomorrow"])
def test_header_rules_of_another_shape_are_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="action name:value"):
        header_rules("response.http.headers.config", text)


def test_sockets_say_tcp_so_that_answers_are_not_delayed() -> None:
    with bind(Listener("listeners", "127.0.0.1", 0)) as bound:
        assert bound.proto == socket.IPPROTO_TCP


def test_a_name_that_does_not_resolve_is_refused_with_its_key() -> None:
    with pytest.raises(
        ConfigError, match=r"Cannot listen on http://no\.such\.host\.invalid:1 .* set listeners to"
    ):
        bind(Listener("listeners", "no.such.host.invalid", 1))
