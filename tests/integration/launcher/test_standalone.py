"""`copycat standalone` as it is, with offsets in a file, and commands where REST is served over TLS."""

from __future__ import annotations

import json
import signal
import ssl
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from confluent_kafka.admin import AdminClient
from copycat_embedded.ports import free_ports
from copycat_launcher.embedded import Copycat
from copycat_testkit.certificates import Authority
from copycat_testkit.commands import Commands, wait_gone
from copycat_testkit.kafka import consume_all, unique, wait_until
from copycat_testkit.system import set_options

from tests.plain_hosts import on_plain_hosts

pytestmark = pytest.mark.timeout(300)

STRING = "org.apache.kafka.connect.storage.StringConverter"


class Worker:
    """A standalone worker's files."""

    def __init__(self, bootstrap: str, folder: Path) -> None:
        self.bootstrap = bootstrap
        self.folder = folder
        self.topic = unique("standalone")
        self.name = unique("lines")
        self.url = f"http://127.0.0.1:{free_ports(1)[0]}"
        self.properties = folder / "worker.properties"
        self.offsets = folder / "offsets"
        self.properties.write_text(
            f"bootstrap.servers={bootstrap}\nkey.converter={STRING}\nvalue.converter={STRING}\n"
            f"offset.storage.file.filename={self.offsets}\nlisteners={self.url}\n"
            "offset.flush.interval.ms=500\n"
        )
        self.source = folder / "source.txt"

    def connector(self, **more: str) -> Path:
        """Write the source connector's properties file."""
        config = {"name": self.name, "connector.class": "FileStreamSource", "topic": self.topic, **more}
        config.setdefault("file", str(self.source))
        file = self.folder / "connector.properties"
        file.write_text("".join(f"{key}={value}\n" for key, value in config.items()))
        return file

    def records(self) -> list[str]:
        topics = AdminClient({"bootstrap.servers": self.bootstrap}).list_topics(timeout=10).topics
        if self.topic not in topics:
            return []
        return [(message.value() or b"").decode() for message in consume_all(self.bootstrap, self.topic)]


@pytest.fixture
def worker(kafka: str, tmp_path: Path) -> Worker:
    return Worker(kafka, tmp_path)


@pytest.fixture
def real_commands(tmp_path: Path) -> Iterator[Commands]:
    running = Commands(tmp_path)
    yield running
    running.close()


@pytest.fixture
def plain_commands(tmp_path: Path) -> Iterator[Commands]:
    """Give commands that start no Spark, for what is not about it."""
    running = Commands(tmp_path, on_plain_hosts())
    yield running
    running.close()


@pytest.mark.row("K26-32", "K26-43", "K26-45", "K26-76", "K26-78")
def test_it_goes_on_after_a_clean_end_and_stores_nothing_in_kafka(
    real_commands: Commands, worker: Worker
) -> None:
    topics = AdminClient({"bootstrap.servers": worker.bootstrap}).list_topics(timeout=10).topics
    worker.source.write_text("one\ntwo\n")
    first = real_commands.start(worker.properties, worker.connector())  # KIP-26's form, without a verb
    assert first.wait_ready(180) == worker.url
    assert httpx2.get(f"{worker.url}/connectors", timeout=60).json() == [worker.name]
    wait_until(lambda: worker.records() == ["one", "two"], 60, "two records")
    processes = first.tree()
    assert first.end() == 0
    wait_gone(processes)
    with worker.source.open("a") as file:
        file.write("three\n")
    without = real_commands.start("standalone", worker.properties)
    assert without.wait_ready(180) == worker.url
    assert httpx2.get(f"{worker.url}/connectors", timeout=60).json() == []
    assert without.end() == 0
    second = real_commands.start("standalone", worker.properties, worker.connector())
    wait_until(lambda: worker.records()[2:] == ["three"], 180, "a third record")
    assert second.end(signal.SIGINT) == 0
    assert worker.records() == ["one", "two", "three"]
    after = AdminClient({"bootstrap.servers": worker.bootstrap}).list_topics(timeout=10).topics
    assert set(after) - set(topics) <= {worker.topic, "__consumer_offsets", "__transaction_state"}


@pytest.mark.row("K26-59", "K26-77")
def test_offsets_survive_a_hard_kill_and_nothing_is_left(plain_commands: Commands, worker: Worker) -> None:
    worker.source.write_text("one\n")
    first = plain_commands.start(worker.properties, worker.connector())
    wait_until(worker.offsets.exists, 180, "a committed offset")
    processes = first.tree()
    assert first.end(signal.SIGKILL) == -signal.SIGKILL
    wait_gone(processes)
    with worker.source.open("a") as file:
        file.write("two\n")
    second = plain_commands.start(worker.properties, worker.connector())
    wait_until(lambda: worker.records() == ["one", "two"], 180, "the second record alone")
    assert second.end() == 0


@pytest.mark.long
@pytest.mark.row("K26-77")
def test_without_offsets_every_start_is_the_first(plain_commands: Commands, worker: Worker) -> None:
    worker.source.write_text("one\n")
    arguments = ("--no-offsets", worker.properties, worker.connector())
    for expected in (["one"], ["one", "one"]):
        command = plain_commands.start(*arguments)
        wait_until(lambda expected=expected: worker.records() == expected, 180, f"{expected}")  # type: ignore[misc]
        assert command.end() == 0
    assert not worker.offsets.exists()


@pytest.mark.long
@pytest.mark.row("K26-32")
def test_a_connector_that_is_refused_ends_the_process_with_its_error(
    plain_commands: Commands, worker: Worker
) -> None:
    file = worker.folder / "bad.json"
    file.write_text(json.dumps({"name": "bad", "config": {"connector.class": "FileStreamSource"}}))
    code, said = plain_commands.run("standalone", worker.properties, file, seconds=180)
    assert code == 1
    assert f"copycat: {file}: connector bad was refused: The configuration of bad is invalid" in said
    assert "Traceback" not in said


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
def secure_commands(tmp_path: Path) -> Iterator[Commands]:
    running = Commands(tmp_path, on_plain_hosts())
    yield running
    running.close()


@pytest.mark.long
def test_up_tells_the_advertised_url_and_the_command_line_reaches_it(
    secure_commands: Commands, secure: Secure
) -> None:
    advertised = {"rest.advertised.host.name": "localhost"}
    data = ("--data-dir", secure.folder / "data")
    started = secure_commands.start("up", *data, *set_options({**secure.properties, **advertised}))
    url = started.wait_ready(180)
    assert url == secure.url.replace("127.0.0.1", "localhost")
    trust = ("--ca", secure.authority.file)
    stranger, refusal = secure_commands.run("list", "--url", url, *trust)
    assert (stranger, "--cert FILE" in refusal) == (5, True)
    code, workers = secure_commands.run(
        "workers", "--url", url, *trust, "--cert", secure.client, "-o", "json"
    )
    assert (code, "127.0.0.1:" in workers) == (0, True), workers
    assert started.end() == 0
    assert PASSWORD not in started.said()


@pytest.mark.long
def test_standalone_submits_its_connectors_over_tls(
    secure_commands: Commands, secure: Secure, kafka: str
) -> None:
    name = unique("lines")
    worker, connector = secure.folder / "worker.properties", secure.folder / "connector.properties"
    for file, properties in (
        (worker, {**secure.properties, "bootstrap.servers": kafka}),
        (connector, secure.source(name)),
    ):
        file.write_text("".join(f"{key}={value}\n" for key, value in properties.items()))
    started = secure_commands.start("standalone", "--no-offsets", worker, connector)
    assert started.wait_ready(180) == secure.url
    assert secure.connectors() == [name]
    assert started.end() == 0


@pytest.mark.long
def test_an_application_adds_connectors_over_tls(secure: Secure, kafka: str) -> None:
    name = unique("lines")
    with Copycat(unique("app"), kafka, settings=secure.properties) as copycat:
        assert copycat.rest_url == secure.url
        assert copycat.add_connector(secure.source(name)) == {name}
        assert copycat.connectors() == (name,)
        assert secure.connectors() == [name]


@pytest.mark.long
def test_a_wrong_password_is_told_with_its_key_and_without_it(commands: Commands, secure: Secure) -> None:
    secure.properties["listeners.https.ssl.keystore.password"] = "wr0ng-pa55"
    data = ("--data-dir", secure.folder / "data")
    code, said = commands.run("up", *data, *set_options(secure.properties), seconds=120)
    assert code == 1
    assert "listeners.https.ssl.keystore.password is wrong, or" in said
    assert "wr0ng-pa55" not in said
