"""Key and trust stores of Kafka's Java clients, as files and as PEM text (KIP-651)."""

from __future__ import annotations

import re
import ssl
from pathlib import Path

import pytest
from confluent_kafka import Producer
from copycat_connect.errors import ConfigError
from copycat_eventlog.clients import librdkafka_config, read_security, tls_context
from copycat_eventlog.pem_stores import CHAIN, KEY, PASSWORD, TRUSTED
from copycat_testkit.certificates import Authority
from cryptography.x509 import load_der_x509_certificate

TLS = {"security.protocol": "SSL"}
SECRET = "a passphrase"


def as_text(authority: Authority, identity: Path) -> dict[str, str]:
    key, certificate = re.findall(r"-----BEGIN.*?-----END[^-]*-----\n", identity.read_text(), re.DOTALL)
    return {**TLS, TRUSTED: authority.file.read_text(), CHAIN: certificate, KEY: key}


def server_of(authority: Authority) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(authority.file))
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_cert_chain(authority.pem("server"))
    return context


def who_is_seen(server: ssl.SSLContext, client: ssl.SSLContext | None) -> str:
    """Shake hands in memory; returns the name in the certificate that the server was shown."""
    assert client is not None
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    here = client.wrap_bio(to_client, to_server, server_hostname="127.0.0.1")
    there = server.wrap_bio(to_server, to_client, server_side=True)
    for _ in range(3):
        for side in (here, there):
            try:
                side.do_handshake()
            except ssl.SSLWantReadError:
                continue
    shown = there.getpeercert(binary_form=True)
    assert shown is not None
    (name,) = load_der_x509_certificate(shown).subject
    return str(name.value)


@pytest.mark.parametrize("password", ["", SECRET])
@pytest.mark.parametrize("lines", ["\n", " "])
def test_certificates_and_a_key_are_read_from_text_in_lines_or_in_one(
    tmp_path: Path, password: str, lines: str
) -> None:
    authority = Authority(tmp_path)
    given = as_text(authority, authority.pem("worker", password=password))
    given = {key: value.replace("\n", lines) for key, value in given.items()}
    security = read_security({**given, PASSWORD: password} if password else given)
    assert who_is_seen(server_of(authority), tls_context(security)) == "worker"
    Producer(librdkafka_config("127.0.0.1:1", security))  # librdkafka reads them at once, or refuses


def test_certificates_and_a_key_are_read_from_files(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    security = read_security({
        **TLS,
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(authority.file),
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(authority.pem("worker", password=SECRET)),
        PASSWORD: SECRET,
    })  # fmt: skip
    assert who_is_seen(server_of(authority), tls_context(security)) == "worker"
    Producer(librdkafka_config("127.0.0.1:1", security))


@pytest.mark.parametrize(
    ("change", "key", "says"),
    [
        ({KEY: ""}, KEY, f"{KEY} is missing beside {CHAIN}: give both"),
        ({CHAIN: ""}, CHAIN, f"{CHAIN} is missing beside {KEY}: give both"),
        ({TRUSTED: "/ca.pem"}, TRUSTED, f"{TRUSTED} holds no PEM text: write"),
        ({"ssl.truststore.location": "/ca.pem", "ssl.truststore.type": "PEM"}, TRUSTED, "remove one of them"),
        ({"ssl.keystore.type": "JKS"}, "ssl.keystore.type", "set ssl.keystore.type=PEM"),
    ],
)
def test_texts_that_cannot_be_followed_are_refused_with_the_key_and_the_fix(
    tmp_path: Path, change: dict[str, str], key: str, says: str
) -> None:
    authority = Authority(tmp_path)
    given = as_text(authority, authority.pem("worker"))
    with pytest.raises(ConfigError, match=re.escape(says)) as refused:
        read_security({**given, **change})
    assert refused.value.fields == {"key": key}
    assert given[KEY].splitlines()[1] not in str(refused.value)


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({PASSWORD: "another"}, KEY),
        ({TRUSTED: "-----BEGIN CERTIFICATE----- bm9uZQ== -----END CERTIFICATE-----"}, TRUSTED),
    ],
)
def test_what_openssl_cannot_read_is_named(tmp_path: Path, change: dict[str, str], key: str) -> None:
    authority = Authority(tmp_path)
    given = as_text(authority, authority.pem("worker", password=SECRET))
    with pytest.raises(ConfigError, match=f"{key} cannot be read as PEM") as refused:
        tls_context(read_security({**given, PASSWORD: SECRET, **change}))
    assert refused.value.fields == {"key": key}
    assert not any(secret in str(refused.value) for secret in (SECRET, "another"))


@pytest.mark.timeout(60)
@pytest.mark.parametrize("store", ["truststore", "keystore"])
def test_a_device_is_no_store(store: str) -> None:
    # A client would read it for ever, and hold the interpreter meanwhile.
    given = TLS | {f"ssl.{store}.type": "PEM", f"ssl.{store}.location": "/dev/zero"}
    with pytest.raises(ConfigError, match=f"ssl.{store}.location has '/dev/zero'.*no regular file"):
        read_security(given)


def test_nobody_reads_a_secret_in_the_text_of_an_object(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    given = {**as_text(authority, authority.pem("worker", password=SECRET)), PASSWORD: SECRET}
    security = read_security({**given, "sasl.jaas.config": 'M required username="me" password="hidden";'})
    assert not any(secret in repr(security) for secret in (SECRET, "hidden", "ENCRYPTED PRIVATE KEY"))
