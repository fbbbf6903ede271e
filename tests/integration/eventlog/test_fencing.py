"""Fencing of transactional ids: what passes is tried again, and who gives up leaves nothing behind."""

from __future__ import annotations

import asyncio
import threading

import pytest
from confluent_kafka import KafkaError, KafkaException, Producer
from copycat_connect.errors import UnavailableError
from copycat_embedded.ports import free_ports
from copycat_eventlog.clients import Security, librdkafka_config
from copycat_eventlog.fencing import FencingRefusedError, Obstacle, fence_producers
from copycat_eventlog.producers import SILENT, kafka_error
from copycat_testkit.eventually import eventually
from copycat_testkit.kafka import create_topic, unique

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
