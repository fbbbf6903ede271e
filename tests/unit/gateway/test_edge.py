"""Paths, sockets and headers."""

from __future__ import annotations

import socket

import pytest
from copycat_connect.errors import ConfigError
from copycat_gateway.edge.headers import header_rules
from copycat_gateway.edge.listeners import bind
from copycat_gateway.edge.paths import segment, task_number
from copycat_gateway.errors import NotFoundError
from copycat_gateway.views.connectors import location
from copycat_rest.listeners import Listener


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
