"""Every client of ours logs in with every mechanism, over TLS, as users of Kafka Connect write it."""

from __future__ import annotations

import pytest
from aiokafka.errors import KafkaConnectionError
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from copycat_connect.errors import UnavailableError
from copycat_eventlog.clients import read_security
from copycat_eventlog.kafka import KafkaLog
from copycat_eventlog.log import Record
from copycat_eventlog.settings import Backend, LogSettings
from copycat_eventlog.tokens import TokenProvider
from copycat_executor.kafka.client_config import admin_config, consumer_config, producer_config
from copycat_mirror.clients import Clients
from copycat_offset.adapters.groups import KafkaGroups
from copycat_testkit.kafka import unique, wait_until
from copycat_testkit.log_suite import led, running

from tests.integration.logins.broker import MECHANISMS, Broker
from tests.integration.logins.token_server import CLIENT, SECRET

pytestmark = pytest.mark.long

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
