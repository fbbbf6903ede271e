"""A broker that wants TLS and a password: all three clients of a log get in, wrong ones read why not."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import replace

import pytest
from copycat_connect.errors import UnavailableError
from copycat_embedded.broker import LEAN, READY, READY_SECONDS
from copycat_embedded.broker_files import TEMPLATE, format_log_folder, write_broker_properties
from copycat_embedded.jars import ensure_jars
from copycat_embedded.jvm import JavaProgram
from copycat_embedded.ports import free_ports
from copycat_eventlog.kafka import KafkaLog
from copycat_eventlog.log import Record
from copycat_eventlog.settings import Backend, LogSettings
from copycat_testkit.kafka import unique
from copycat_testkit.log_suite import Reader, led, running

pytestmark = pytest.mark.long

LOGIN = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="{}" password="{}";'
BROKER = """\
listeners=PLAINTEXT://127.0.0.1:{plain},SECURE://127.0.0.1:{secure},CONTROLLER://127.0.0.1:{controller}
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,SECURE:SASL_SSL,CONTROLLER:PLAINTEXT
inter.broker.listener.name=PLAINTEXT
sasl.enabled.mechanisms=PLAIN
listener.name.secure.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule \
required user_me="it's; secret";
ssl.keystore.type=PEM
ssl.keystore.location={store}
"""


@pytest.fixture(scope="module")
def secure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LogSettings]:
    folder = tmp_path_factory.mktemp("secure")
    key, certificate, store = folder / "key.pem", folder / "certificate.pem", folder / "store.pem"
    command = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "2",
        "-subj",
        "/CN=broker",
    ]
    command += ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(command, check=True, capture_output=True)
    store.write_text(key.read_text() + certificate.read_text())
    plain, port, controller = free_ports(3)
    format_log_folder(folder / "log")
    properties = folder / "server.properties"
    write_broker_properties(properties, folder / "log", plain, controller)
    more = BROKER.format(plain=plain, secure=port, controller=controller, store=store)
    properties.write_text(properties.read_text() + more)
    broker = JavaProgram(
        "kafka.Kafka",
        [str(properties)],
        class_path=ensure_jars(("broker",)),
        options=(*LEAN, f"-Dlog4j2.configurationFile={TEMPLATE / 'log4j2.properties'}"),
        log=folder / "broker.log",
    )
    assert broker.wait_for_line(READY, READY_SECONDS), broker.last_lines()
    client = {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "PLAIN",
        "sasl.jaas.config": LOGIN.format("me", "it's; secret"),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(certificate),
    }
    yield LogSettings(
        Backend.KAFKA,
        f"127.0.0.1:{port}",
        "log",
        1,
        1,
        owner_id="log",
        client_config=client,
        reachable_within=5,
    )
    broker.stop()


async def test_a_log_gets_in_with_the_right_password(secure: LogSettings) -> None:
    name = unique("secret")
    log = KafkaLog(replace(secure, topic=name, owner_id=name))
    async with running(log) as reader:
        await led(log)
        await reader.reached(await log.append([Record(b"a", b"1")]))
        assert reader.facts == {b"a": b"1"}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"sasl.jaas.config": LOGIN.format("me", "wrong")}, "Authentication failed"),
        ({"ssl.truststore.location": "", "ssl.truststore.type": "PEM"}, "certificate"),
    ],
)
async def test_a_refused_log_is_told_why(secure: LogSettings, change: dict[str, str], says: str) -> None:
    client = {key: value for key, value in {**secure.client_config, **change}.items() if value}
    log = KafkaLog(replace(secure, client_config=client))
    with pytest.raises(UnavailableError, match=says):
        await log.start(Reader().fold)
    await log.stop()
