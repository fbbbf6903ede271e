"""Which cluster a connector works on, and as whom: what its client overrides say (KIP-458).

Values are taken as they are written: placeholders are for the caller to resolve.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from copycat_connect.cluster import Config
from copycat_connect.config.login import JAAS
from copycat_connect.config.parsing import parse_type
from copycat_connect.config.setting import Type
from copycat_connect.errors import ConfigError

BOOTSTRAP_SERVERS: Final = "bootstrap.servers"
PRODUCER_OVERRIDE: Final = "producer.override."
CONSUMER_OVERRIDE: Final = "consumer.override."
ADMIN_OVERRIDE: Final = "admin.override."
REQUEST_TIMEOUT: Final = "request.timeout.ms"
CLIENT_ID: Final = "client.id"
DEFAULT_SERVERS: Final = "localhost:9092"
EMBEDDED_SERVERS: Final = "embedded.bootstrap.servers"
"""Worker property that is there with an embedded Kafka alone: where everybody reaches it without a login."""
_SECURITY: Final = ("security.", "sasl.", "ssl.")
POLICY = "connector.client.config.override.policy"
ALLOWLIST = "connector.client.config.override.allowlist"
_PACKAGE = "org.apache.kafka.connect.connector.policy."
_SUFFIX = "ConnectorClientConfigOverridePolicy"
PRINCIPAL_SETTINGS: Final = frozenset({JAAS, "sasl.mechanism", "security.protocol"})
"""Settings of a client that say who it is: what the policy Principal lets a connector override."""
OverridePolicy = Callable[[str], str | None]
"""Returns why a setting may not be overridden, or None when it may."""


def overridden(worker: Config, own: Mapping[str, str], overrides: Mapping[str, str]) -> dict[str, str]:
    """Return the settings of a client: what a connector overrides, upon what it has from the worker.

    The login that was made for an embedded Kafka is not sent to other brokers: a client that connects
    elsewhere has none, unless the connector gives it one.
    """
    settings = {**own, **overrides}
    home, login = worker.get(BOOTSTRAP_SERVERS), worker.get(JAAS)
    if EMBEDDED_SERVERS not in worker or settings.get(BOOTSTRAP_SERVERS, home) == home:
        return settings
    if own.get(JAAS) != login:  # somebody's own choice, for all clients of this kind
        return settings
    return {**{key: value for key, value in own.items() if not key.startswith(_SECURITY)}, **overrides}


def overrides_of(config: Config, prefixes: Iterable[str] = (CONSUMER_OVERRIDE, ADMIN_OVERRIDE)) -> Config:
    """Return a connector's client overrides under some prefixes, with their whole keys."""
    wanted = tuple(prefixes)
    return {key: value for key, value in config.items() if key.startswith(wanted)}


def other_cluster(worker: Config, connector: Config) -> dict[str, str] | None:
    """Return how a sink's consumer connects where it reads another cluster than the worker's; None elsewhere.

    The keys are those of Kafka's Java consumer that say where the brokers are and who asks.
    """
    consumer = overridden(worker, under(worker, "consumer."), under(connector, CONSUMER_OVERRIDE))
    servers = consumer.get(BOOTSTRAP_SERVERS)
    if not servers or servers == (worker.get(BOOTSTRAP_SERVERS) or DEFAULT_SERVERS):
        return None
    return _connection(consumer)


def group_client(worker: Config, overrides: Config) -> dict[str, str] | None:
    """Return the client with which to ask for a sink's consumer group; None for the worker's own.

    The group is where the consumer commits. `admin.override.*` come last, as for the admin client of Kafka
    Connect, which asks for offsets.
    """
    consumer = other_cluster(worker, overrides)
    extra = (CLIENT_ID, REQUEST_TIMEOUT)
    admin = {
        key: value
        for key, value in under(overrides, ADMIN_OVERRIDE).items()
        if _connects(key) or key in extra
    }
    if consumer is None and not admin:
        return None
    return overridden(worker, _own_client(worker) if consumer is None else consumer, admin)


def admin_client(worker: Config, overrides: Config) -> dict[str, str]:
    """Return how the admin client of a connector connects, in the words of Kafka's Java clients.

    That of Kafka Connect, which fences the tasks of a source: the worker's own settings, then those under
    `admin.`, then the connector's `admin.override.*`.
    """
    own = {**_own_client(worker), **_connection(under(worker, "admin."))}
    return overridden(worker, own, _connection(under(overrides, ADMIN_OVERRIDE)))


def _own_client(worker: Config) -> dict[str, str]:
    own = {key: value for key, value in worker.items() if value is not None and _connects(key)}
    return {BOOTSTRAP_SERVERS: DEFAULT_SERVERS, **own}


def _connection(settings: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in settings.items() if _connects(key)}


def _connects(key: str) -> bool:
    return key == BOOTSTRAP_SERVERS or key.startswith(_SECURITY)


def under(config: Config, prefix: str) -> dict[str, str]:
    """Return the settings of a client that stand under a prefix, without it and without blanks."""
    return {
        key.removeprefix(prefix): value.strip()
        for key, value in config.items()
        if key.startswith(prefix) and value is not None
    }


def override_policy(worker: Config) -> OverridePolicy:
    """Return the policy that a worker's properties name.

    Raises:
        ConfigError: There is no such policy.
    """
    given = worker.get(POLICY)
    name = "All" if given is None else given.strip().removeprefix(_PACKAGE).removesuffix(_SUFFIX)
    match name:
        case "All":
            return lambda _: None
        case "None":
            allowed: frozenset[str] = frozenset()
        case "Principal":
            allowed = PRINCIPAL_SETTINGS
        case "Allowlist":
            allowed = frozenset(parse_type(ALLOWLIST, worker.get(ALLOWLIST) or "", Type.LIST))
        case _:
            raise ConfigError(
                f"Invalid value {given} for configuration {POLICY}: Class {given} could not be found.",
                key=POLICY,
            )

    def refuse(setting: str) -> str | None:
        if setting in allowed:
            return None
        return (
            f"The '{name}' policy does not allow '{setting}' to be overridden in the connector configuration."
        )

    return refuse


def check_overrides(worker: Config, overrides: Config) -> None:
    """Check client overrides of a connector, given with their whole keys, against the worker's policy.

    One written under another policy, or past the REST interface, is found where it is used.

    Raises:
        ConfigError: The policy does not allow one, or there is no such policy; the text names the key.
    """
    if not overrides:
        return
    policy = override_policy(worker)
    for key in overrides:
        refusal = policy(key.partition(".override.")[2])
        if refusal is not None:
            raise ConfigError(
                f"Client Config Overrides not allowed: {refusal} Remove {key}, or change {POLICY}", key=key
            )
