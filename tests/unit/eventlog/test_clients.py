"""Properties of Java clients for the clients used here; key and trust stores as files and as PEM text."""

from __future__ import annotations

import os
import re
import ssl
import subprocess
import sys
import threading
from concurrent.futures import Future
from pathlib import Path

import pytest
from confluent_kafka import Producer
from copycat_connect.errors import ConfigError, UnavailableError
from copycat_embedded.ports import free_ports
from copycat_eventlog import brokers
from copycat_eventlog.brokers import Brokers
from copycat_eventlog.clients import aiokafka_config, librdkafka_config, read_security, tls_context
from copycat_eventlog.identity import instance_name, is_dead
from copycat_eventlog.pem_stores import CHAIN, KEY, PASSWORD, TRUSTED
from copycat_testkit.certificates import Authority
from cryptography.x509 import load_der_x509_certificate

SCRAM = {
    "security.protocol": "SASL_PLAINTEXT",
    "sasl.mechanism": "SCRAM-SHA-512",
    "sasl.jaas.config": (
        'org.apache.kafka.common.security.scram.ScramLoginModule required username="me" password="p=1;";'
    ),
}


def test_plain_text_is_the_default() -> None:
    security = read_security({})
    assert librdkafka_config("a:1", security)["security.protocol"] == "PLAINTEXT"
    assert aiokafka_config("a:1, b:2", security)["bootstrap_servers"] == ["a:1", "b:2"]
    assert tls_context(security) is None


def test_a_login_is_read_from_the_jaas_text() -> None:
    security = read_security(SCRAM)
    config = librdkafka_config("a:1", security)
    assert (config["sasl.username"], config["sasl.password"]) == ("me", "p=1;")
    assert config["sasl.mechanism"] == "SCRAM-SHA-512"
    assert aiokafka_config("a:1", security)["sasl_plain_password"] == "p=1;"


def test_pem_stores_become_files() -> None:
    security = read_security({
        "security.protocol": "SSL",
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": "/ca.pem",
        "ssl.endpoint.identification.algorithm": "",
    })  # fmt: skip
    config = librdkafka_config("a:1", security)
    assert config["ssl.ca.location"] == "/ca.pem"
    assert config["ssl.endpoint.identification.algorithm"] == "none"


@pytest.mark.parametrize(
    ("properties", "says"),
    [
        ({"ssl.truststore.location": "/a.jks"}, "convert /a.jks to PEM"),
        (
            {"security.protocol": "SASL_SSL", "sasl.mechanism": "GSSAPI"},
            "sasl.mechanism=GSSAPI is not supported",
        ),
    ],
)
def test_what_only_java_reads_is_refused_with_the_fix(properties: dict[str, str], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        read_security(properties)


def test_an_instance_that_runs_is_not_dead() -> None:
    assert not is_dead(instance_name("log"))


def test_an_instance_that_ended_is_dead() -> None:
    program = "from copycat_eventlog.identity import instance_name; print(instance_name('a.b-c'))"
    name = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert is_dead(name.strip())


def test_an_instance_nobody_has_reaped_is_dead() -> None:
    child = os.fork()
    if child == 0:
        os._exit(0)
    name = ".".join([*instance_name("log").split(".")[:2], str(child), "0"])
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    assert is_dead(name)
    os.waitpid(child, 0)


@pytest.mark.parametrize("name", ["", "faust-1", "log.0123.77.ab", "log..77.ab"])
def test_of_an_instance_elsewhere_nothing_is_known(name: str) -> None:
    assert not is_dead(name)


class LateAnswer(Future[str]):
    """Comes after so many waits, each of which is over at once."""

    def __init__(self, waits: float) -> None:
        super().__init__()
        self.waits = waits

    def result(self, timeout: float | None = None) -> str:
        assert timeout is not None, "a cancelled start would hang"
        if self.waits:
            self.waits -= 1
            raise TimeoutError
        return "late"


@pytest.fixture
def nobody() -> dict[str, str | int | bool]:
    return {"bootstrap.servers": f"127.0.0.1:{free_ports(1)[0]}", "log_level": 2}


def test_a_late_answer_is_an_answer(
    nobody: dict[str, str | int | bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(brokers, "REQUEST_TIMEOUT_SECONDS", 0.05)
    assert Brokers(nobody, within=60).ask(LateAnswer(20)) == "late"


def test_no_answer_in_time_says_how_long_was_waited(nobody: dict[str, str | int | bool]) -> None:
    with pytest.raises(UnavailableError, match=r"did not answer within 0\.1 s"):
        Brokers(nobody, within=0.1).ask(LateAnswer(float("inf")))


def test_a_cancelled_start_waits_no_longer(nobody: dict[str, str | int | bool]) -> None:
    cancelled = threading.Event()
    cancelled.set()
    with pytest.raises(UnavailableError):
        Brokers(nobody, within=3600, cancelled=cancelled).ask(LateAnswer(float("inf")))


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
