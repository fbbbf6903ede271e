"""The config topic of a cluster that has so many connectors already, written before its services start."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from confluent_kafka import KafkaException, Producer
from copycat_config.adapters.codec import ConfigCodec
from copycat_config.domain.events import (
    ConfigEvent,
    ConnectorConfigured,
    TaskConfigured,
    TaskSetCommitted,
)
from copycat_eventlog.brokers import Brokers
from copycat_eventlog.settings import Backend, LogSettings
from copycat_eventlog.topics import ensure_log_topic

from tools.load.simulation.worker import CONNECTOR_CLASS, TASKS, task_configs

WRITE_SECONDS: Final = 120.0
EVENTS_AT_A_TIME: Final = 1000


def name_of(number: int) -> str:
    """Return the name of a connector."""
    return f"load-{number:05d}"


def config(name: str) -> dict[str, str | None]:
    """Return the configuration of a simulated connector: eight keys, as connectors have on average."""
    return {
        "name": name,
        "connector.class": CONNECTOR_CLASS,
        "tasks.max": str(TASKS),
        "topic": f"{name}-records",
        "fields": '[{"name": "id", "type": "sequence"}]',
        "throughput": "0",
        "key.converter": "org.apache.kafka.connect.storage.StringConverter",
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
    }


def events(connectors: int) -> Iterator[ConfigEvent]:
    """Yield what a compacted config topic says of so many connectors, each with its committed tasks."""
    for name in map(name_of, range(connectors)):
        yield ConnectorConfigured(name, config(name))
        for task, task_config in enumerate(task_configs(config(name))):
            yield TaskConfigured(name, task, task_config)
        yield TaskSetCommitted(name, TASKS)


def store(bootstrap: str, topic: str, connectors: int) -> None:
    """Write the topic, in Kafka Connect's format and by the config service's codec.

    Raises:
        KafkaException: The broker did not take it.
    """
    client: dict[str, str | int | bool] = {"bootstrap.servers": bootstrap}
    settings = LogSettings(Backend.KAFKA, topic=topic, replication_factor=1)
    ensure_log_topic(Brokers(client, WRITE_SECONDS), settings)
    producer, codec = Producer({**client, "acks": "all"}), ConfigCodec()
    for number, event in enumerate(events(connectors), 1):
        record = codec.encode(event)
        producer.produce(topic, key=record.key, value=record.value)
        if number % EVENTS_AT_A_TIME == 0:
            producer.flush(WRITE_SECONDS)
    if left := producer.flush(WRITE_SECONDS):
        message = f"{left} records of the config topic were not taken in {WRITE_SECONDS:g} s"
        raise KafkaException(message)
