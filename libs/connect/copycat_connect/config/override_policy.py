"""Which client settings a worker lets connectors change (KIP-458)."""

from __future__ import annotations

from collections.abc import Callable

from copycat_connect.cluster import Config
from copycat_connect.config.parsing import parse_type
from copycat_connect.config.setting import Type
from copycat_connect.errors import ConfigError

POLICY = "connector.client.config.override.policy"
ALLOWLIST = "connector.client.config.override.allowlist"
_PACKAGE = "org.apache.kafka.connect.connector.policy."
_SUFFIX = "ConnectorClientConfigOverridePolicy"
_PRINCIPAL = frozenset({"sasl.jaas.config", "sasl.mechanism", "security.protocol"})

OverridePolicy = Callable[[str], str | None]
"""Returns why a setting may not be overridden, or None when it may."""


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
            allowed = _PRINCIPAL
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
