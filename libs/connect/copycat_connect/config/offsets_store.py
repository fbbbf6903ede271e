"""Where a source connector keeps its offsets: in the worker's topic, in one of its own, or in both (KIP-618).

Whoever asks the offset service sends the keys that say so as they are written (`store_keys`); the service
resolves placeholders and reads from the keys whether there is an own topic (`own_topic`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from copycat_connect.cluster import Config
from copycat_connect.config.client_overrides import (
    ADMIN_OVERRIDE,
    BOOTSTRAP_SERVERS,
    CONSUMER_OVERRIDE,
    DEFAULT_SERVERS,
    EMBEDDED_SERVERS,
    PRODUCER_OVERRIDE,
    overridden,
    under,
)
from copycat_connect.config.delivery import ExactlyOnceSources, Guarantee, guarantee_of_source
from copycat_connect.config.framework_names import OFFSETS_TOPIC

OVERRIDES: Final = (PRODUCER_OVERRIDE, CONSUMER_OVERRIDE, ADMIN_OVERRIDE)
WORKER_TOPIC: Final = "offset.storage.topic"
_CLIENTS: Final = ("producer.", "consumer.", "admin.")
_CONNECTION: Final = (BOOTSTRAP_SERVERS, "security.", "sasl.", "ssl.")


@dataclass(frozen=True, slots=True)
class StoreKeys:
    """What says where the offsets of a source connector are."""

    config: Config
    """Its keys `offsets.storage.topic` and its client overrides, as written."""
    exactly_once: bool
    """Its tasks write them inside of their transactions."""


@dataclass(frozen=True, slots=True)
class OffsetsTopic:
    """A topic that holds offsets, and the clients that reach it, in the words of Kafka's Java clients."""

    name: str
    """The topic."""
    producer: Mapping[str, str]
    """Who writes to it."""
    consumer: Mapping[str, str]
    """Who reads it."""
    admin: Mapping[str, str]
    """Who creates it."""


def store_keys(connector: Config, sources: ExactlyOnceSources) -> StoreKeys | None:
    """Return what to send with each call for the offsets of a source connector.

    Args:
        connector: Its configuration, as written.
        sources: Which sources of the worker deliver exactly once.

    Returns:
        None where all offsets are in the worker's topic, written by the offset service.
    """
    exactly_once = guarantee_of_source(connector, sources) is Guarantee.EXACTLY_ONCE
    if not exactly_once and not _named_topic(connector):
        return None
    config = {
        key: value for key, value in connector.items() if key == OFFSETS_TOPIC or key.startswith(OVERRIDES)
    }
    return StoreKeys(config, exactly_once)


def worker_client_keys(worker: Config) -> dict[str, str]:
    """Return those of a worker's properties that its connectors' clients are made from."""
    return {
        key: value
        for key, value in worker.items()
        if value is not None and key.startswith((*_CLIENTS, *_CONNECTION, EMBEDDED_SERVERS))
    }


def primary_topic(worker: Config, store: Config) -> OffsetsTopic:
    """Return the topic to which a connector's own clients write offsets, which may be the worker's.

    Args:
        worker: The worker's properties, without placeholders.
        store: The keys of `StoreKeys`, without placeholders.
    """
    servers = {BOOTSTRAP_SERVERS: worker.get(BOOTSTRAP_SERVERS) or DEFAULT_SERVERS}
    plain = {key: value for key, value in worker.items() if value is not None and key.startswith(_CONNECTION)}
    return OffsetsTopic(
        _named_topic(store) or worker.get(WORKER_TOPIC) or "",
        producer=overridden(worker, servers | under(worker, "producer."), under(store, PRODUCER_OVERRIDE)),
        consumer=overridden(worker, servers | under(worker, "consumer."), under(store, CONSUMER_OVERRIDE)),
        # Kafka Connect gives the worker's plain settings to admin clients only.
        admin=overridden(worker, servers | plain | under(worker, "admin."), under(store, ADMIN_OVERRIDE)),
    )


def is_the_workers(topic: OffsetsTopic, worker: Config) -> bool:
    """Return whether a connector's topic is the worker's own: the same name, written to the same brokers."""
    home = worker.get(BOOTSTRAP_SERVERS) or DEFAULT_SERVERS
    return topic.name == worker.get(WORKER_TOPIC) and (
        _addresses(topic.producer[BOOTSTRAP_SERVERS]) == _addresses(home)
    )


def _named_topic(config: Config) -> str:
    return (config.get(OFFSETS_TOPIC) or "").strip()


def _addresses(servers: str) -> frozenset[str]:
    return frozenset(each.strip() for each in servers.split(","))
