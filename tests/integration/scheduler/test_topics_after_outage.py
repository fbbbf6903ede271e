"""The reader of the cluster's topics outlives a client that has lost all brokers for good."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import pytest
from copycat_connect.errors import UnavailableError
from copycat_embedded.broker import EmbeddedKafka
from copycat_embedded.ports import free_ports
from copycat_eventlog.clients import Security, librdkafka_config
from copycat_scheduler.adapters import topics
from copycat_testkit.kafka import create_topic

pytestmark = pytest.mark.long

#: The controller takes such a broker for dead most of the time: its answers name no live broker.
FENCED = {"broker.session.timeout.ms": "500", "broker.heartbeat.interval.ms": "3000"}


def connection(bootstrap_servers: str, security: Security) -> dict[str, str | int | bool]:
    # With "none" the client is sure to end where it otherwise ends only at times.
    return librdkafka_config(bootstrap_servers, security) | {"metadata.recovery.strategy": "none"}


async def test_topics_are_read_again_after_a_client_lost_all_brokers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(topics, "librdkafka_config", connection)
    monkeypatch.setattr(topics, "METADATA_TIMEOUT_SECONDS", 3.0)
    with EmbeddedKafka(tmp_path, port=free_ports(1)[0]) as broker:
        topic = create_topic(broker.bootstrap)
        reader = topics.KafkaTopics(broker.bootstrap, {})
        assert topic in await reader.read()
        broker.kill()
        fenced = EmbeddedKafka(tmp_path, port=int(broker.bootstrap.rpartition(":")[2]), settings=FENCED)
        fenced.start()
        try:
            await wait_until_lost(reader)
        finally:
            fenced.kill()
        broker.start()
        assert topic in await read_at_last(reader)
        reader.close()


async def read_at_last(reader: topics.KafkaTopics) -> Mapping[str, int]:
    async with asyncio.timeout(60):
        while True:
            with suppress(UnavailableError):
                return await reader.read()


async def wait_until_lost(reader: topics.KafkaTopics) -> None:
    """Read until that fails although the broker is up: the client has lost it."""
    async with asyncio.timeout(60):
        while True:
            try:
                await reader.read()
            except UnavailableError:
                return
