"""The log suite on Kafka."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from copycat_eventlog.log import Log, Record
from copycat_eventlog.open import open_log
from copycat_eventlog.settings import Backend, LogSettings
from copycat_testkit.kafka import idempotent_producer, unique
from copycat_testkit.log_suite import LogSuite

pytestmark = pytest.mark.row("K26-47")


def log_settings(kafka: str, partitions: int = 1) -> LogSettings:
    name = unique("log")
    return LogSettings(
        Backend.KAFKA,
        bootstrap_servers=kafka,
        topic=name,
        partitions=partitions,
        replication_factor=1,
        owner_id=name,
        setting="some.storage.topic",
        purpose="some facts",
    )


class OnKafka:
    def __init__(self, settings: LogSettings) -> None:
        self.settings = settings

    def log(self) -> Log:
        return open_log(self.settings)

    async def write(self, records: Sequence[Record]) -> None:
        producer = idempotent_producer(self.settings.bootstrap_servers, {"linger.ms": 0})
        for record in records:
            producer.produce(self.settings.topic, key=record.key, value=record.value)
        assert producer.flush(60) == 0


class TestKafkaLog(LogSuite):
    @pytest.fixture
    def place(self, kafka: str) -> OnKafka:
        return OnKafka(log_settings(kafka, partitions=3))
