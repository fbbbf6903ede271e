"""Key stores and trust stores.

The ssl.* keys of listeners.
"""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from pathlib import Path

import pytest
from copycat_connect.errors import ConfigError
from copycat_testkit.certificates import Authority
from copycat_tls.keys import ADMIN_PREFIX, REST_PREFIX, read_tls
from copycat_tls.stores import Identity, read_identity, read_trusted

SECRET = "s3cret-pa55"
P = REST_PREFIX + "ssl."


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


def identity(keys: Mapping[str, object]) -> Identity:
    return read_identity(read_tls({P + key: str(value) for key, value in keys.items()}, REST_PREFIX))


def name_of(found: Identity) -> str:
    return found.chain[0].subject.rfc4514_string()


def parts(file: Path) -> tuple[str, str]:
    """Return key and certificate of a PEM file."""
    key, begin, certificate = file.read_text().partition("-----BEGIN CERT")
    return key, begin + certificate


@pytest.mark.parametrize("password", ["", SECRET])
def test_a_pem_file_has_key_and_certificate(authority: Authority, password: str) -> None:
    file = authority.pem("server", password=password)
    more = {"key.password": password} if password else {}

    assert name_of(identity({"keystore.type": "PEM", "keystore.location": file, **more})) == "CN=server"


def test_key_and_certificate_may_stand_in_the_properties_even_on_one_line(authority: Authority) -> None:
    key, chain = (text.replace("\n", " ") for text in parts(authority.pem("server", password=SECRET)))
    keys = {"keystore.type": "PEM", "keystore.key": key, "keystore.certificate.chain": chain}

    assert name_of(identity({**keys, "key.password": SECRET})) == "CN=server"


@pytest.mark.parametrize("type", ["PKCS12", "JKS"])
def test_a_pkcs12_file_is_read_under_javas_default_type_too(authority: Authority, type: str) -> None:
    file = authority.pkcs12("server", SECRET)
    found = identity({"keystore.location": file, "keystore.type": type, "keystore.password": SECRET})

    assert [each.subject.rfc4514_string() for each in found.chain] == ["CN=server", "CN=authority"]


def test_what_to_trust_is_pem_or_pkcs12(authority: Authority) -> None:
    ways: list[dict[str, object]] = [
        {"type": "PEM", "location": authority.file},
        {"type": "PEM", "certificates": authority.file.read_text().replace("\n", " ")},
        {"type": "PKCS12", "location": authority.pkcs12("server", SECRET), "password": SECRET},
    ]
    for way in ways:
        keys = {f"{P}truststore.{key}": str(value) for key, value in way.items()}
        found = read_trusted(read_tls(keys, REST_PREFIX).truststore)
        assert found[-1].subject.rfc4514_string() == "CN=authority"


def test_what_cannot_be_opened_names_the_key_and_the_fix_and_no_secret(
    authority: Authority, tmp_path: Path
) -> None:
    pem, locked = authority.pem("server"), authority.pem("locked", password=SECRET)
    p12 = authority.pkcs12("packed", SECRET)
    key, chain = parts(pem)
    alone, other, jks = tmp_path / "key.pem", tmp_path / "other.pem", tmp_path / "store.jks"
    alone.write_text(key)
    other.write_text(parts(locked)[1] + key)
    jks.write_bytes(bytes.fromhex("feedfeed00000002"))
    wrong = "wr0ng-pa55"
    cases: list[tuple[dict[str, object], str, str]] = [
        ({"keystore.type": "PEM"}, "keystore.location", "is not set: name the file"),
        ({"keystore.location": tmp_path / "none"}, "keystore.location", "No such file"),
        ({"keystore.location": tmp_path}, "keystore.location", "Is a directory"),
        ({"keystore.location": "/dev/zero"}, "keystore.location", "no regular file"),
        ({"keystore.location": jks}, "keystore.location", "convert to PEM or PKCS12"),
        ({"keystore.location": pem}, "keystore.type", "is PEM text, .* set .*type=PEM"),
        ({"keystore.location": p12, "keystore.type": "PEM"}, "keystore.type", "no PEM text, .*=PKCS12"),
        ({"keystore.location": p12}, "keystore.password", "is not set and .* set the password"),
        ({"keystore.location": p12, "keystore.password": wrong}, "keystore.password", "is wrong, or"),
        ({"keystore.location": locked, "keystore.type": "PEM"}, "key.password", "is encrypted: set it"),
        (
            {"keystore.location": locked, "keystore.type": "PEM", "key.password": wrong},
            "key.password",
            "does not open the private key",
        ),
        ({"keystore.location": alone, "keystore.type": "PEM"}, "keystore.location", "has no certificate"),
        (
            {"keystore.location": authority.file, "keystore.type": "PEM"},
            "keystore.location",
            "no private key",
        ),
        ({"keystore.location": other, "keystore.type": "PEM"}, "keystore.location", "not that of its first"),
        ({"keystore.key": key}, "keystore.certificate.chain", "is not set, but .*keystore.key is: set both"),
        ({"keystore.certificate.chain": chain}, "keystore.key", "is not set, but"),
    ]
    for keys, named, reason in cases:
        with pytest.raises(ConfigError, match=reason) as refused:
            identity(keys)
        assert refused.value.fields == {"key": P + named}, keys
        assert P + named in refused.value.message
        assert not any(secret in refused.value.message for secret in (SECRET, wrong, key[40:80]))


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
