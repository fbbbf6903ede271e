"""Logins with tokens, as users of Kafka Connect write them."""

from __future__ import annotations

import pytest
from copycat_connect.config.login import is_oauth, librdkafka_oauth, login_options, read_oauth
from copycat_connect.errors import ConfigError

MODULE = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required"
ENDPOINT = {"sasl.oauthbearer.token.endpoint.url": "https://login.example/token"}


@pytest.mark.parametrize(
    ("jaas", "options"),
    [
        ('M required username="ann" password="p=1;";', {"username": "ann", "password": "p=1;"}),
        (r'M required password="it\'s \"quoted\" \\";', {"password": 'it\'s "quoted" \\'}),
        ("M required username='ann' useKeyTab=true;", {"username": "ann", "useKeyTab": "true"}),
        ("", {}),
    ],
)
def test_options_are_read_as_java_reads_them(jaas: str, options: dict[str, str]) -> None:
    assert login_options(jaas) == options


@pytest.mark.timeout(60)
@pytest.mark.parametrize("jaas", ["a" * 1_000_000, 'a="' * 300_000, "a=" + '"\\' * 500_000, "a " * 500_000])
def test_a_text_of_a_megabyte_is_read_at_once(jaas: str) -> None:
    login_options(jaas)


def test_options_of_the_module_become_librdkafkas_own() -> None:
    jaas = (
        f'{MODULE} clientId="ann" clientSecret="hidden" scope="kafka" extension_pool="7" extension_zone="b";'
    )
    login = read_oauth({**ENDPOINT, "sasl.jaas.config": jaas})

    assert librdkafka_oauth(login) == {
        "sasl.oauthbearer.method": "oidc",
        "sasl.oauthbearer.token.endpoint.url": "https://login.example/token",
        "sasl.oauthbearer.client.id": "ann",
        "sasl.oauthbearer.client.secret": "hidden",
        "sasl.oauthbearer.scope": "kafka",
        "sasl.oauthbearer.extensions": "pool=7,zone=b",
    }
    assert "hidden" not in repr(login)


def test_keys_may_stand_in_place_of_options() -> None:
    login = read_oauth(
        {
            **ENDPOINT,
            "sasl.jaas.config": f"{MODULE};",
            "sasl.oauthbearer.client.credentials.client.id": "ann",
            "sasl.oauthbearer.client.credentials.client.secret": "hidden",
            "sasl.oauthbearer.scope": "kafka",
        }
    )
    assert (login.client_id, login.client_secret, login.scope) == ("ann", "hidden", "kafka")


@pytest.mark.parametrize(
    ("properties", "says"),
    [
        ({}, "source.sasl.oauthbearer.token.endpoint.url is not set: with sasl.mechanism=OAUTHBEARER write"),
        ({"sasl.oauthbearer.token.endpoint.url": "file:///etc/token"}, "has 'file:///etc/token'"),
        (ENDPOINT, "source.sasl.jaas.config has no clientId, and source.sasl.oauthbearer.client.credentials"),
        (
            {**ENDPOINT, "sasl.jaas.config": f'{MODULE} clientId="a" unsecuredLoginStringClaim_sub="b";'},
            "source.sasl.jaas.config has no clientSecret",
        ),
    ],
)
def test_what_is_missing_is_named(properties: dict[str, str], says: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read_oauth(properties, "source.")
    assert says in caught.value.message


@pytest.mark.parametrize(
    ("protocol", "mechanism", "expected"),
    [("SASL_SSL", "oauthbearer", True), ("SSL", "OAUTHBEARER", False), ("SASL_SSL", "PLAIN", False)],
)
def test_only_who_logs_in_so_needs_it(protocol: str, mechanism: str, expected: bool) -> None:
    assert is_oauth({"security.protocol": protocol, "sasl.mechanism": mechanism}) is expected
