"""Settings of the Kafka clients of one task: our defaults, the worker's prefix, the connector's overrides.

Users write the Java clients' names, `copycat_connect.config.client_names` has librdkafka's. A key that
neither knows is dropped and named in `unknown`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from copycat_connect.cluster import Config
from copycat_connect.config.client_choices import Placing, placing_of, refusal
from copycat_connect.config.client_names import (
    ADMIN,
    CONNECTION,
    CONSUMER,
    PRODUCER,
    READ_AHEAD,
    SECURITY_KEYS,
    Rename,
    translated,
)
from copycat_connect.config.client_overrides import (
    ADMIN_OVERRIDE,
    BOOTSTRAP_SERVERS,
    CLIENT_ID,
    CONSUMER_OVERRIDE,
    DEFAULT_SERVERS,
    PRINCIPAL_SETTINGS,
    PRODUCER_OVERRIDE,
    check_overrides,
    overridden,
    overrides_of,
    under,
)
from copycat_connect.config.worker_keys import BROKER_DATA_DIR
from copycat_connect.errors import ConfigError

#: Connect's own producer settings; what Java and librdkafka measure differently is chosen for throughput.
_PRODUCER_DEFAULTS: Final = {
    "acks": "all",
    "max.in.flight.requests.per.connection": "1",
    "enable.idempotence": "false",
    "delivery.timeout.ms": "2147483647",
    "linger.ms": "5",
    "batch.size": "1000000",
    "max.request.size": "1048576",
    "buffer.memory": "67108864",
}
TRANSACTIONAL_ID: Final = "transactional.id"
TRANSACTION_TIMEOUT: Final = "transaction.timeout.ms"
_IDEMPOTENCE: Final = "enable.idempotence"
_DELIVERY_TIMEOUT: Final = "delivery.timeout.ms"
_IN_FLIGHT: Final = "max.in.flight.requests.per.connection"
#: An idempotent producer keeps the order of up to five requests under way.
_IDEMPOTENT_IN_FLIGHT: Final = 5
#: Kafka's default of `transaction.timeout.ms`.
_DEFAULT_TRANSACTION_TIMEOUT: Final = "60000"
_CONSUMER_DEFAULTS: Final = {
    "auto.offset.reset": "earliest",
    "isolation.level": "read_uncommitted",
}

#: Java's placement of keys.
_JAVA_PARTITIONER: Final = "murmur2_random"
_PARTITIONERS: Final = {Placing.ANYWHERE: "random"}
#: librdkafka settings without a Java name.
_PRODUCER_NATIVE: Final = {
    # How long a missing topic may still be on its way to this broker; KRaft needs a fraction of a second.
    "topic.metadata.propagation.max.ms": "10000",
    "queue.buffering.max.messages": "200000",
}
_CONSUMER_NATIVE: Final = {
    "enable.auto.commit": "false",
    "enable.auto.offset.store": "false",
    "enable.partition.eof": "false",
    **READ_AHEAD,
}


_ADMIN_KEYS: Final = frozenset(ADMIN) | SECURITY_KEYS


@dataclass(frozen=True, slots=True)
class ClientConfig:
    """What a Kafka client is made from."""

    properties: dict[str, str]
    """librdkafka's settings."""
    java: dict[str, str]
    """The same in the user's words, for settings that the engine itself obeys."""
    unknown: tuple[str, ...] = ()
    """Keys given by the user that mean nothing here; worth a warning."""
    broker_data_dir: str = ""
    """Where the broker keeps its data, if it is known and on this machine."""


def producer_config(worker: Config, connector: Config, client_id: str) -> ClientConfig:
    """Settings of the producer that writes a source task's records, or a dead letter queue."""
    own = _first(_PRODUCER_DEFAULTS, worker, client_id) | under(worker, "producer.")
    overrides = _overrides(worker, connector, PRODUCER_OVERRIDE)
    java = overridden(worker, own, overrides)
    _check_choices(PRODUCER_OVERRIDE, java, overrides)
    native = {**_PRODUCER_NATIVE, "partitioner": _PARTITIONERS.get(placing_of(java), _JAVA_PARTITIONER)}
    config = _translate(java, PRODUCER, native)
    return replace(config, broker_data_dir=worker.get(BROKER_DATA_DIR.name) or "")


def idempotent_config(worker: Config, connector: Config, client_id: str) -> ClientConfig:
    """Settings of a producer whose retries repeat nothing.

    Raises:
        ConfigError: The user wants acknowledgements or requests under way that do not allow it.
    """
    config = producer_config(worker, connector, client_id)
    return _idempotent(config, worker, connector)


def transactional_config(
    worker: Config, connector: Config, client_id: str, transactional_id: str
) -> ClientConfig:
    """Settings of the producer of a task that delivers exactly once; its transactional id is not overridden.

    Raises:
        ConfigError: The user wants acknowledgements or requests under way that do not allow it.
    """
    config = idempotent_config(worker, connector, client_id)
    properties = config.properties
    timeout = properties.setdefault(TRANSACTION_TIMEOUT, _DEFAULT_TRANSACTION_TIMEOUT)
    # What is not delivered by then is aborted; librdkafka demands that no record waits for longer.
    delivery = min(int(properties[_DELIVERY_TIMEOUT]), int(timeout))
    return replace(
        config,
        properties={**properties, TRANSACTIONAL_ID: transactional_id, _DELIVERY_TIMEOUT: str(delivery)},
    )


def _idempotent(config: ClientConfig, worker: Config, connector: Config) -> ClientConfig:
    chosen = under(worker, "producer.") | under(connector, PRODUCER_OVERRIDE)
    properties = {**config.properties, _IDEMPOTENCE: "true"}
    if properties["acks"] not in {"all", "-1"}:
        raise _refused("acks", properties["acks"], "use all, or leave it out")
    in_flight = chosen.get(_IN_FLIGHT, str(_IDEMPOTENT_IN_FLIGHT))
    if not in_flight.isdigit() or int(in_flight) > _IDEMPOTENT_IN_FLIGHT:
        raise _refused(_IN_FLIGHT, in_flight, f"use {_IDEMPOTENT_IN_FLIGHT} or less, or leave it out")
    return replace(config, properties={**properties, _IN_FLIGHT: in_flight})


def _refused(setting: str, value: str, fix: str) -> ConfigError:
    key = f"producer.override.{setting}"
    reason = "the producer of this delivery guarantee may not repeat records"
    return ConfigError(f"Invalid value {value} for configuration {key}: {reason}; {fix}", key=key)


def consumer_config(
    worker: Config, connector: Config, client_id: str, group: str, *, committed_only: bool = False
) -> ClientConfig:
    """Settings of a sink task's consumer; it reads in `group`, where its positions are committed.

    With `committed_only` it reads no records of open or aborted transactions, unless settings say otherwise.
    """
    defaults = _CONSUMER_DEFAULTS | ({"isolation.level": "read_committed"} if committed_only else {})
    own = _first(defaults, worker, client_id) | under(worker, "consumer.")
    overrides = _overrides(worker, connector, CONSUMER_OVERRIDE)
    java = overridden(worker, own, overrides) | {"group.id": group}
    _check_choices(CONSUMER_OVERRIDE, java, overrides)
    return _translate(java, CONSUMER, _CONSUMER_NATIVE)


def admin_config(
    worker: Config, connector: Config, client_id: str, *, as_producer: bool = False
) -> ClientConfig:
    """Settings of the admin client that creates topics; those of the worker itself are its own, too.

    With `as_producer` it logs in as the connector's producer does, unless it has a login of its own.
    """
    plain = {key: value.strip() for key, value in worker.items() if key in _ADMIN_KEYS and value is not None}
    own = plain | _first({}, worker, client_id) | under(worker, "admin.")
    chosen = _overrides(worker, connector, ADMIN_OVERRIDE)
    if as_producer:
        overrides = _overrides(worker, connector, PRODUCER_OVERRIDE)
        chosen = {key: value for key, value in overrides.items() if key in PRINCIPAL_SETTINGS} | chosen
    return _translate(overridden(worker, own, chosen), ADMIN, {})


def connection_of(config: ClientConfig) -> dict[str, str]:
    """Return how a client reaches the brokers and who it is, for another client that asks them the same."""
    return _translate(config.java, CONNECTION, {}).properties


def _first(defaults: Mapping[str, str], worker: Config, client_id: str) -> dict[str, str]:
    servers = worker.get(BOOTSTRAP_SERVERS) or DEFAULT_SERVERS
    return {BOOTSTRAP_SERVERS: servers, CLIENT_ID: client_id, **defaults}


def _overrides(worker: Config, connector: Config, prefix: str) -> dict[str, str]:
    """Return what a connector overrides: one written under another policy is checked here, too.

    Raises:
        ConfigError: The worker's policy does not allow it.
    """
    check_overrides(worker, overrides_of(connector, (prefix,)))
    return under(connector, prefix)


def _check_choices(client: str, java: Mapping[str, str], overrides: Mapping[str, str]) -> None:
    """Refuse what says where records go, or which are read, and cannot be honoured.

    Raises:
        ConfigError: One is, of the worker's own settings too.
    """
    for setting, value in java.items():
        shown = f"{client if setting in overrides else client.removesuffix('override.')}{setting}"
        refused = refusal(client, setting, value, shown)
        if refused is not None:
            raise ConfigError(refused, key=shown)


def _translate(java: dict[str, str], names: Mapping[str, Rename], native: Mapping[str, str]) -> ClientConfig:
    found = translated(java, names)
    return ClientConfig({**found.properties, **native}, java, found.unknown)
