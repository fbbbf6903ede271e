"""Every client of ours, and a whole system, logs in with every mechanism over TLS, on one broker."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar
from urllib.parse import parse_qs

import grpc
import pytest
from aiokafka.errors import KafkaConnectionError
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import (
    AdminClient,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)
from copycat_client.client import CopycatClient
from copycat_connect.errors import UnavailableError
from copycat_embedded.broker import EmbeddedKafka
from copycat_eventlog.clients import read_security
from copycat_eventlog.kafka import KafkaLog
from copycat_eventlog.log import Record
from copycat_eventlog.settings import Backend, LogSettings
from copycat_eventlog.tokens import TokenProvider
from copycat_executor.kafka.client_config import admin_config, consumer_config, producer_config
from copycat_launcher.readiness import probe
from copycat_launcher.roles import GRPC_ROLES, ROLES
from copycat_mirror.clients import Clients
from copycat_offset.adapters.groups import KafkaGroups
from copycat_rpc.role import read_properties
from copycat_testkit.certificates import Authority
from copycat_testkit.kafka import unique, wait_until
from copycat_testkit.log_suite import led, running
from grpc_health.v1 import health_pb2, health_pb2_grpc

from tests.integration.emitting.bench import AUTHOR, System
from tests.integration.listening import LOOPBACK, documented, hosts, listening, ports_by_kind
from tests.integration.scenarios.cluster import Cluster
from tests.integration.scenarios.rest import PATIENCE

pytestmark = pytest.mark.long

CLIENT, SECRET = "copycat", "the word of the token client"
LIFE_SECONDS = 600


def token(subject: str) -> str:
    """Return a token that nobody signed, as RFC 7515 writes it."""
    now = int(time.time())
    claims = {"sub": subject, "iat": now, "exp": now + LIFE_SECONDS, "scope": ["kafka"]}
    return f"{_part({'alg': 'none'})}.{_part(claims)}."


def _part(content: dict[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(content).encode()).decode().rstrip("=")


class _Handler(BaseHTTPRequestHandler):
    asked: ClassVar[list[dict[str, list[str]]]]

    def do_POST(self) -> None:
        form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        known = base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode()
        quoted = base64.b64encode(f"{CLIENT}:{SECRET.replace(' ', '%20')}".encode()).decode()
        allowed = self.headers["Authorization"] in {f"Basic {known}", f"Basic {quoted}"}
        self.asked.append(form)
        answer: dict[str, Any] = {"error": "invalid_client"}
        if allowed:
            answer = {"access_token": token(CLIENT), "token_type": "Bearer", "expires_in": LIFE_SECONDS}
        body = json.dumps(answer).encode()
        self.send_response(200 if allowed else 401)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class TokenServer:
    """A running one."""

    def __init__(self, port: int, asked: list[dict[str, list[str]]]) -> None:
        self.url = f"http://127.0.0.1:{port}/token"
        self.asked = asked


@contextmanager
def token_server() -> Iterator[TokenServer]:
    """Run one."""
    handler = type("Handler", (_Handler,), {"asked": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield TokenServer(server.server_port, handler.asked)  # type: ignore[attr-defined]
    finally:
        server.shutdown()
        server.server_close()


_MODULES = "org.apache.kafka.common.security"
PLAIN = f"{_MODULES}.plain.PlainLoginModule required"
SCRAM = f"{_MODULES}.scram.ScramLoginModule required"
OAUTH = f"{_MODULES}.oauthbearer.OAuthBearerLoginModule required"
USER, PASSWORD = "ada", 'it\'s "quoted"; secret'
QUOTED = PASSWORD.replace('"', r"\"")
MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER")


@dataclass(frozen=True, slots=True)
class Broker:
    """A running one, as its clients see it."""

    bootstrap: str
    trusted: Path
    """Who trusts it trusts the broker."""
    tokens: TokenServer

    def client(self, mechanism: str, secret: str = "") -> dict[str, str]:
        """Return what a user of Kafka Connect writes to log in."""
        if mechanism == "OAUTHBEARER":
            login = f'{OAUTH} clientId="{CLIENT}" clientSecret="{secret or SECRET}" scope="kafka";'
        else:
            module = PLAIN if mechanism == "PLAIN" else SCRAM
            login = f'{module} username="{USER}" password="{secret or QUOTED}";'
        return {
            "security.protocol": "SASL_SSL",
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": str(self.trusted),
            "sasl.mechanism": mechanism,
            "sasl.jaas.config": login,
            "sasl.oauthbearer.token.endpoint.url": self.tokens.url,
        }

    def worker(self, mechanism: str) -> dict[str, str]:
        """Return the same for a worker and for its connectors' clients."""
        given = self.client(mechanism)
        return {
            f"{part}{key}": text for part in ("", "producer.", "consumer.") for key, text in given.items()
        }


@contextmanager
def broker_of_all_logins(folder: Path, tokens: TokenServer) -> Iterator[Broker]:
    """Run one."""
    authority = Authority(folder)
    quoted = QUOTED.replace("\\", "\\" * 2)  # as a properties file has it
    own = f'username="{USER}" password="{quoted}"'
    settings = {
        "listener.security.protocol.map": "PLAINTEXT:SASL_SSL,CONTROLLER:PLAINTEXT",
        "inter.broker.listener.name": "PLAINTEXT",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(authority.pem("broker")),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(authority.file),
        "sasl.enabled.mechanisms": ",".join(MECHANISMS),
        "sasl.mechanism.inter.broker.protocol": "PLAIN",
        "listener.name.plaintext.plain.sasl.jaas.config": f'{PLAIN} {own} user_{USER}="{quoted}";',
        "listener.name.plaintext.scram-sha-256.sasl.jaas.config": f"{SCRAM};",
        "listener.name.plaintext.scram-sha-512.sasl.jaas.config": f"{SCRAM};",
        # Believes tokens that nobody signed: the broker's check of signatures is not what is tested here.
        "listener.name.plaintext.oauthbearer.sasl.jaas.config": f"{OAUTH};",
    }
    with EmbeddedKafka(folder / "kafka", settings=settings) as kafka:
        made = Broker(kafka.bootstrap, authority.file, tokens)
        admin = AdminClient({
            "bootstrap.servers": kafka.bootstrap,
            "security.protocol": "SASL_SSL",
            "ssl.ca.location": str(authority.file),
            "sasl.mechanism": "PLAIN",
            "sasl.username": USER,
            "sasl.password": PASSWORD,
        })  # fmt: skip
        for kind in (ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512):  # one a request
            user = UserScramCredentialUpsertion(USER, ScramCredentialInfo(kind, 4096), PASSWORD.encode())
            admin.alter_user_scram_credentials([user])[USER].result(60)
        yield made


@pytest.fixture(scope="module")
def tokens() -> Iterator[TokenServer]:
    with token_server() as running:
        yield running


@pytest.fixture(scope="module")
def broker(tokens: TokenServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    with broker_of_all_logins(tmp_path_factory.mktemp("logins"), tokens) as running:
        yield running


every_mechanism = pytest.mark.parametrize("mechanism", MECHANISMS)


def log_on(broker: Broker, client: dict[str, str], patience: float = 60) -> KafkaLog:
    name = unique("log")
    made = LogSettings(
        Backend.KAFKA,
        broker.bootstrap,
        name,
        1,
        1,
        owner_id=name,
        client_config=client,
        reachable_within=patience,
    )
    return KafkaLog(made)


@every_mechanism
def test_the_clients_of_tasks_produce_consume_and_administrate(broker: Broker, mechanism: str) -> None:
    worker = {"bootstrap.servers": broker.bootstrap, **broker.worker(mechanism)}
    topic = unique("logins")
    produced = producer_config(worker, {}, "p")
    producer = Producer(produced.properties)
    producer.produce(topic, b"hello")
    assert producer.flush(60) == 0
    consumed = consumer_config(worker, {}, "c", unique("group"))
    consumer = Consumer(consumed.properties)
    consumer.assign([TopicPartition(topic, 0, 0)])
    message = wait_until(lambda: consumer.poll(1), 60, "the record")
    consumer.close()
    assert message.value() == b"hello"
    admin = admin_config(worker, {}, "a")
    assert topic in AdminClient({**admin.properties}).list_topics(timeout=60).topics
    assert (produced.unknown, consumed.unknown, admin.unknown) == ((), (), ())


@every_mechanism
async def test_the_clients_of_consumer_groups_ask(broker: Broker, mechanism: str) -> None:
    groups = KafkaGroups(broker.bootstrap, broker.client(mechanism))
    try:
        assert not await groups.positions(unique("group"))
    finally:
        await groups.aclose()


@every_mechanism
def test_mirrors_reach_their_clusters(broker: Broker, mechanism: str) -> None:
    java = {"bootstrap.servers": broker.bootstrap, **broker.client(mechanism)}
    clients = Clients({f"source.cluster.{key}": value for key, value in java.items()}, "test")
    assert clients.admin("source.cluster.").list_topics(timeout=60).brokers


@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-256", "OAUTHBEARER"])
async def test_a_log_is_led_written_and_read(broker: Broker, mechanism: str) -> None:
    log = log_on(broker, broker.client(mechanism))
    async with running(log) as reader:
        await led(log)
        await reader.reached(await log.append([Record(b"a", b"1")]))
        assert reader.facts == {b"a": b"1"}


async def test_who_gets_no_token_is_refused_and_not_shown(broker: Broker) -> None:
    log = log_on(broker, broker.client("OAUTHBEARER", secret="not the right word"), patience=3)
    with pytest.raises(UnavailableError) as caught:
        await log.start(lambda *_: None)
    await log.stop()
    assert "not the right word" not in caught.value.message


async def test_a_token_is_asked_for_once_in_its_life(broker: Broker) -> None:
    login = read_security(broker.client("OAUTHBEARER")).oauth
    assert login is not None
    provider, before = TokenProvider(login), len(broker.tokens.asked)
    assert await provider.token() == await provider.token()
    assert broker.tokens.asked[before:] == [{"grant_type": ["client_credentials"], "scope": ["kafka"]}]
    assert SECRET not in repr(login)


async def test_an_endpoint_that_gives_no_token_is_named(broker: Broker) -> None:
    login = read_security(broker.client("OAUTHBEARER", secret="not the right word")).oauth
    assert login is not None
    with pytest.raises(KafkaConnectionError) as caught:
        await TokenProvider(login).token()
    said = str(caught.value)
    assert f"The token endpoint {broker.tokens.url} answers 401 to client {CLIENT}" in said
    assert "not the right word" not in said


@pytest.fixture(scope="module")
def guarded(broker: Broker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[System]:
    """Run one executor and every service; nothing of it speaks in plain text but REST, on loopback.

    It runs on Spark, whose ports are documented as well.
    """
    folder = tmp_path_factory.mktemp("guarded")
    authority = Authority(folder)
    settings = {
        **broker.worker("OAUTHBEARER"),
        "services.ssl.keystore.type": "PEM",
        "services.ssl.keystore.location": str(authority.pem("service")),
        "services.ssl.truststore.type": "PEM",
        "services.ssl.truststore.location": str(authority.file),
    }
    plugins = {"PYTHONPATH": str(AUTHOR)}
    with Cluster(broker.bootstrap, folder / "data", 1, settings, plugins, spark=True).running() as running:
        yield System(running, folder)


def properties_of(guarded: System) -> dict[str, str]:
    return read_properties(guarded.cluster.folder / "worker.properties")


def test_records_go_in_and_out(guarded: System) -> None:
    topic = unique("through")
    source = guarded.emitter("", f"{topic} one", f"{topic} two")
    sink = guarded.sink(unique("sink"), topics=topic)
    out = guarded.folder / f"{sink}.out"
    wait_until(lambda: out.exists() and out.read_text() == "one\ntwo\n", 2 * PATIENCE, "both records")
    for name in (source, sink):
        guarded.rest.delete(name)


def test_probes_and_clients_find_their_way_by_the_properties(guarded: System) -> None:
    probe(guarded.cluster.folder / "worker.properties", ROLES)


async def test_the_typed_client_does_too(guarded: System) -> None:
    async with CopycatClient.from_properties(properties_of(guarded)) as client:
        assert all((await client.health(timeout=60)).values())
        assert (await (await client.executors.any()).plugins()) != ()


def test_plain_text_reaches_nobody(guarded: System) -> None:
    properties = properties_of(guarded)
    workers = guarded.rest.workers()
    addresses = {role.address(properties) for role in GRPC_ROLES if role.name != "executor"} | workers
    assert len(addresses) == len(GRPC_ROLES)
    for address in addresses:
        with grpc.insecure_channel(address) as channel, pytest.raises(grpc.RpcError) as caught:
            health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest(), timeout=60)
        assert caught.value.code() is grpc.StatusCode.UNAVAILABLE


def test_nothing_listens_but_what_is_documented(guarded: System) -> None:
    found, properties = listening(guarded.cluster.up.pid), properties_of(guarded)

    assert ports_by_kind(found) == documented()
    assert hosts(found) <= LOOPBACK
    for role in ROLES:
        ports = {port for _, port in found[role.name]}
        assert int(role.address(properties).rpartition(":")[2]) in ports, role.name
