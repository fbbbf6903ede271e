"""A log and brokers that refuse it: fenced ids, wrong logins, an outage and its end."""

from __future__ import annotations

import asyncio
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from confluent_kafka import KafkaError, KafkaException, Producer
from copycat_connect.errors import CopycatError, UnavailableError
from copycat_embedded.broker import LEAN, READY, READY_SECONDS, EmbeddedKafka
from copycat_embedded.broker_files import TEMPLATE, format_log_folder, write_broker_properties
from copycat_embedded.jars import ensure_jars
from copycat_embedded.jvm import JavaProgram
from copycat_embedded.ports import free_ports
from copycat_eventlog.clients import Security, librdkafka_config
from copycat_eventlog.fencing import FencingRefusedError, Obstacle, fence_producers
from copycat_eventlog.handler import EventSourced
from copycat_eventlog.kafka import KafkaLog
from copycat_eventlog.log import Record
from copycat_eventlog.producers import SILENT, kafka_error
from copycat_eventlog.settings import Backend, LogSettings
from copycat_testkit.eventually import eventually
from copycat_testkit.kafka import create_topic, unique
from copycat_testkit.log_suite import FoldingReader, led, running
from copycat_testkit.puts import DECIDER, PutCodec, PutKey, Puts

PLAIN = Security()


def nobody() -> dict[str, str | int | bool]:
    """Return how to reach a broker that is not there."""
    return librdkafka_config(f"127.0.0.1:{free_ports(1)[0]}", PLAIN)


async def test_an_id_is_fenced_by_many_at_once_and_its_producer_cannot_commit(kafka: str) -> None:
    name, topic = unique("fenced"), create_topic(kafka)
    zombie = Producer({"bootstrap.servers": kafka, "transactional.id": name}, logger=SILENT)
    zombie.init_transactions(60)
    zombie.begin_transaction()
    zombie.produce(topic, b"late")
    zombie.flush(60)

    connection = librdkafka_config(kafka, PLAIN)
    await asyncio.gather(
        *(fence_producers(connection, [name] * 3, client_id="fencer", within=60) for _ in range(3))
    )

    with pytest.raises(KafkaException) as refused:
        zombie.commit_transaction(60)
    assert kafka_error(refused.value).code() == KafkaError._FENCED


async def test_brokers_that_are_away_are_tried_until_the_time_is_up_and_the_id_is_named() -> None:
    with pytest.raises(UnavailableError, match=r"transactional id lost-0 is not fenced yet: .*refused"):
        await fence_producers(nobody(), ["lost-0"], client_id="fencer", within=1.0)


async def test_a_setting_that_cannot_be_followed_is_a_refusal() -> None:
    wrong = {**nobody(), "security.protocol": "SSL", "ssl.ca.location": "/no/such/file.pem"}

    with pytest.raises(FencingRefusedError, match=r"ssl\.ca\.location") as refused:
        await fence_producers(wrong, ["lost-0"], client_id="fencer", within=60.0)

    assert refused.value.obstacle is Obstacle.OTHER


async def test_who_gives_up_leaves_no_thread_behind() -> None:
    def fencing() -> list[str]:
        return [each.name for each in threading.enumerate() if each.name.startswith("fence")]

    asked = asyncio.create_task(
        fence_producers(nobody(), [f"lost-{n}" for n in range(20)], client_id="fencer", within=600.0)
    )
    await eventually(lambda: len(fencing()) > 0, 60)
    asked.cancel()
    await asyncio.wait((asked,))

    await eventually(lambda: fencing() == [], 60)


async def test_no_ids_need_no_broker() -> None:
    await fence_producers(nobody(), [], client_id="fencer", within=1.0)


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


@pytest.mark.long
async def test_a_log_gets_in_with_the_right_password(secure: LogSettings) -> None:
    name = unique("secret")
    log = KafkaLog(replace(secure, topic=name, owner_id=name))
    async with running(log) as reader:
        await led(log)
        await reader.reached(await log.append([Record(b"a", b"1")]))
        assert reader.facts == {b"a": b"1"}


@pytest.mark.long
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
        await log.start(FoldingReader().fold)
    await log.stop()


#: For a writer to go on once its broker is back, on a machine that is busy with much else.
GO_ON_SECONDS = 120.0


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[EmbeddedKafka]:
    with EmbeddedKafka(tmp_path, port=free_ports(1)[0]) as broker:
        yield broker


async def started(broker: EmbeddedKafka, name: str) -> Puts:
    log = KafkaLog(LogSettings(Backend.KAFKA, broker.bootstrap, name, 1, 1, owner_id=name))
    events: Puts = EventSourced(DECIDER, PutCodec(), log)
    await events.start()
    return events


async def put_until_done(events: Puts, command: PutKey, failures: Counter[str]) -> None:
    """Put as a client does: again after every failure; `failures` counts them by their text."""
    while True:
        try:
            await events.execute(command)
        except CopycatError as error:
            failures[error.message] += 1
        else:
            return


@pytest.mark.long
@pytest.mark.timeout(300)
@pytest.mark.row("K26-46")
async def test_after_a_kill_and_restart_of_the_broker_the_writer_goes_on(broker: EmbeddedKafka) -> None:
    name = unique("outage")
    events = await started(broker, name)
    await events.execute(PutKey("before", "1"))
    broker.kill()
    during = asyncio.create_task(put_until_done(events, PutKey("during", "1"), Counter()))
    done, _ = await asyncio.wait([during], timeout=15)  # longer than a transaction or a session lasts
    assert not done
    assert events.state["before"] == "1", "reads go on"
    await asyncio.to_thread(broker.start)
    async with asyncio.timeout(GO_ON_SECONDS):
        await during
    assert dict((await events.execute(PutKey("after", "1"))).state) == {
        "before": "1",
        "during": "1",
        "after": "1",
    }
    await events.stop()


@pytest.mark.timeout(300)
@pytest.mark.long
async def test_nothing_is_lost_or_made_up_while_a_broker_restarts(broker: EmbeddedKafka) -> None:
    name = unique("outage")
    events = await started(broker, name)
    await events.execute(PutKey("start", "1"))
    acknowledged: set[str] = set()
    failures: Counter[str] = Counter()
    stopping = asyncio.Event()

    async def caller(number: int) -> None:
        count = 0
        while not stopping.is_set():
            key = f"{number}-{count}"
            await put_until_done(events, PutKey(key, "v"), failures)
            acknowledged.add(key)
            count += 1

    callers = [asyncio.create_task(caller(number)) for number in range(10)]
    await asyncio.to_thread(broker.kill)
    before = len(acknowledged)
    await asyncio.to_thread(broker.start)
    deadline = time.monotonic() + GO_ON_SECONDS
    while len(acknowledged) < before + 200:
        await asyncio.wait(callers, timeout=0.1)
        assert time.monotonic() < deadline, f"{len(acknowledged) - before} of 200 puts; failed: {failures}"
    stopping.set()
    await asyncio.gather(*callers)
    assert set(events.state) - {"start"} == acknowledged
    await events.stop()
    again = await started(broker, name)
    assert again.state == events.state
    await again.stop()
