"""The ssl.* keys of listeners."""

from __future__ import annotations

import ssl

import pytest
from copycat_connect.errors import ConfigError
from copycat_tls.keys import ADMIN_PREFIX, REST_PREFIX, read_tls


def test_the_plain_keys_count_where_none_has_the_prefix() -> None:
    tls = read_tls({"ssl.keystore.location": "a", "ssl.client.auth": "required"}, REST_PREFIX)

    assert (tls.prefix, tls.keystore.location, tls.client_auth) == ("", "a", ssl.CERT_REQUIRED)


def test_one_key_with_the_prefix_leaves_no_plain_one() -> None:
    properties = {
        "ssl.keystore.location": "a",
        "ssl.client.auth": "required",
        "ssl.cipher.suites": "of Kafka's clients",
        "listeners.https.ssl.truststore.location": "b",
    }
    tls = read_tls(properties, REST_PREFIX)

    assert (tls.keystore.location, tls.truststore.location, tls.client_auth) == (None, "b", ssl.CERT_NONE)
    assert tls.keystore.key("location") == "listeners.https.ssl.keystore.location"
    assert read_tls(properties | {"ssl.cipher.suites": ""}, ADMIN_PREFIX).keystore.location == "a"


@pytest.mark.parametrize("key", ["ssl.client.auth", "ssl.client.authentication"])
@pytest.mark.parametrize(
    ("value", "mode"), [("requested", ssl.CERT_OPTIONAL), ("REQUIRED", ssl.CERT_REQUIRED)]
)
def test_clients_may_be_asked_for_a_certificate(key: str, value: str, mode: ssl.VerifyMode) -> None:
    assert read_tls({key: value}, REST_PREFIX).client_auth is mode


@pytest.mark.parametrize(
    ("value", "oldest", "newest"),
    [
        ("TLSv1.3", ssl.TLSVersion.TLSv1_3, ssl.TLSVersion.TLSv1_3),
        ("TLSv1.3,TLSv1.2", ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3),
    ],
)
def test_protocols_are_a_range(value: str, oldest: ssl.TLSVersion, newest: ssl.TLSVersion) -> None:
    protocols = read_tls({"ssl.enabled.protocols": value}, REST_PREFIX).protocols

    assert (protocols[0], protocols[-1]) == (oldest, newest)


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ("ssl.client.auth", "maybe", "write one of none, requested, required"),
        ("ssl.enabled.protocols", "SSLv3", "write a list of TLSv1.2 and TLSv1.3"),
        ("ssl.enabled.protocols", "", "write a list of TLSv1.2 and TLSv1.3"),
        ("ssl.keystore.type", "BKS", "JKS, PKCS12, PEM"),
        ("ssl.cipher.suites", "TLS_AES_128_GCM_SHA256", "remove it"),
    ],
)
@pytest.mark.parametrize("prefix", ["", REST_PREFIX])
def test_a_wrong_value_names_its_full_key_and_what_to_write(
    prefix: str, key: str, value: str, reason: str
) -> None:
    with pytest.raises(ConfigError, match=reason) as refused:
        read_tls({prefix + key: value}, REST_PREFIX)

    assert refused.value.fields == {"key": prefix + key}
    assert prefix + key in refused.value.message
