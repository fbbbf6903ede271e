"""The commands where REST is served over TLS: they find it, call it, print its URL."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from copycat_embedded.ports import free_ports
from copycat_launcher.embedded import Copycat
from copycat_testkit.certificates import Authority
from copycat_testkit.commands import Commands
from copycat_testkit.kafka import unique

from tests.plain_hosts import on_plain_hosts

pytestmark = [pytest.mark.timeout(300), pytest.mark.long]

STRING = "org.apache.kafka.connect.storage.StringConverter"
PASSWORD = "of-this-test"


class Secure:
    """Where a system listens with https, to known clients only."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.authority = Authority(folder)
        self.url = f"https://127.0.0.1:{free_ports(1)[0]}"
        self.properties = {
            "listeners": self.url,
            "listeners.https.ssl.keystore.type": "PKCS12",
            "listeners.https.ssl.keystore.location": str(self.authority.pkcs12("server", PASSWORD)),
            "listeners.https.ssl.keystore.password": PASSWORD,
            "listeners.https.ssl.truststore.type": "PEM",
            "listeners.https.ssl.truststore.location": str(self.authority.file),
            "listeners.https.ssl.client.auth": "required",
            "key.converter": STRING,
            "value.converter": STRING,
        }
        self.client = self.authority.pem("client")

    def connectors(self) -> list[str]:
        """Return the connectors there are, asked as a client that is known."""
        tls = ssl.create_default_context(cafile=self.authority.file)
        tls.load_cert_chain(self.client)
        found: list[str] = httpx2.get(f"{self.url}/connectors", verify=tls, timeout=60).json()
        return found

    def source(self, name: str) -> dict[str, str]:
        """Return the configuration of a connector that reads an empty file."""
        text = self.folder / "in.txt"
        text.touch()
        return {"name": name, "connector.class": "FileStreamSource", "file": str(text), "topic": name}


@pytest.fixture
def secure(tmp_path: Path) -> Secure:
    return Secure(tmp_path)


@pytest.fixture
def real_commands(tmp_path: Path) -> Iterator[Commands]:
    running = Commands(tmp_path, on_plain_hosts())
    yield running
    running.close()


def set_options(properties: dict[str, str]) -> list[str]:
    return [part for key, value in properties.items() for part in ("--set", f"{key}={value}")]


def test_up_tells_the_advertised_url_and_the_command_line_reaches_it(
    real_commands: Commands, secure: Secure
) -> None:
    advertised = {"rest.advertised.host.name": "localhost"}
    data = ("--data-dir", secure.folder / "data")
    started = real_commands.start("up", *data, *set_options({**secure.properties, **advertised}))
    url = started.wait_ready(180)
    assert url == secure.url.replace("127.0.0.1", "localhost")
    trust = ("--ca", secure.authority.file)
    stranger, refusal = real_commands.run("list", "--url", url, *trust)
    assert (stranger, "--cert FILE" in refusal) == (5, True)
    code, workers = real_commands.run("workers", "--url", url, *trust, "--cert", secure.client, "-o", "json")
    assert (code, "127.0.0.1:" in workers) == (0, True), workers
    assert started.end() == 0
    assert PASSWORD not in started.said()


def test_standalone_submits_its_connectors_over_tls(
    real_commands: Commands, secure: Secure, kafka: str
) -> None:
    name = unique("lines")
    worker, connector = secure.folder / "worker.properties", secure.folder / "connector.properties"
    for file, properties in (
        (worker, {**secure.properties, "bootstrap.servers": kafka}),
        (connector, secure.source(name)),
    ):
        file.write_text("".join(f"{key}={value}\n" for key, value in properties.items()))
    started = real_commands.start("standalone", "--no-offsets", worker, connector)
    assert started.wait_ready(180) == secure.url
    assert secure.connectors() == [name]
    assert started.end() == 0


def test_an_application_adds_connectors_over_tls(secure: Secure, kafka: str) -> None:
    name = unique("lines")
    with Copycat(unique("app"), kafka, settings=secure.properties) as copycat:
        assert copycat.rest_url == secure.url
        assert copycat.add_connector(secure.source(name)) == {name}
        assert copycat.connectors() == (name,)
        assert secure.connectors() == [name]


def test_a_wrong_password_is_told_with_its_key_and_without_it(commands: Commands, secure: Secure) -> None:
    secure.properties["listeners.https.ssl.keystore.password"] = "wr0ng-pa55"
    data = ("--data-dir", secure.folder / "data")
    code, said = commands.run("up", *data, *set_options(secure.properties), seconds=120)
    assert code == 1
    assert "listeners.https.ssl.keystore.password is wrong, or" in said
    assert "wr0ng-pa55" not in said
