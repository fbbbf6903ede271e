"""Addresses of brokers that can never be reached are refused."""

from __future__ import annotations

import pytest
from copycat_connect.errors import ConfigError
from copycat_executor.kafka.client_config import producer_config
from copycat_executor.kafka.connections import check_brokers


def check(servers: str) -> None:
    check_brokers(producer_config({"bootstrap.servers": servers}, {}, "p"))


@pytest.mark.parametrize(
    "servers",
    [
        "127.0.0.1:9092",
        "localhost:1",
        "[::1]:9092",
        "PLAINTEXT://127.0.0.1:9",
        "no.such.host.invalid:1, 127.0.0.1:2",
    ],
)
def test_addresses_one_of_which_has_a_host_pass(servers: str) -> None:
    check(servers)


@pytest.mark.parametrize("server", ["nowhere", "127.0.0.1", "host:port", ":9092", "::1:9092", "a:65536"])
def test_an_address_without_host_or_port_is_refused_by_name(server: str) -> None:
    with pytest.raises(ConfigError, match=r"Invalid url in bootstrap\.servers: .*Write host:port"):
        check(f"127.0.0.1:9092,{server}")


@pytest.mark.parametrize("servers", ["no.such.host.invalid:9092", ","])
def test_addresses_none_of_which_has_a_host_are_refused(servers: str) -> None:
    with pytest.raises(ConfigError, match=r"No resolvable bootstrap urls given in bootstrap\.servers"):
        check(servers)
