"""Client overrides: which client settings a connector may change."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from copycat_connect.config.definition import RawConfig
from copycat_connect.config.parsing import parse_type
from copycat_connect.config.setting import Type
from copycat_connect.config.values import ConfigValue
from copycat_connect.errors import ConfigError
from copycat_connect.validation.client_settings import Client, client_definition
from copycat_connect.validation.infos import ConfigInfos, prefixed_infos

POLICY = "connector.client.config.override.policy"
ALLOWLIST = "connector.client.config.override.allowlist"
_PACKAGE = "org.apache.kafka.connect.connector.policy."
_SUFFIX = "ConnectorClientConfigOverridePolicy"
_PRINCIPAL = frozenset({"sasl.jaas.config", "sasl.mechanism", "security.protocol"})

OverridePolicy = Callable[[str], str | None]
"""Returns why a setting may not be overridden, or None when it may."""


def override_policy(worker: Mapping[str, str]) -> OverridePolicy:
    """Return the policy that a worker's properties name.

    Raises:
        ConfigError: There is no such policy.
    """
    given = worker.get(POLICY, "All")
    name = given.strip().removeprefix(_PACKAGE).removesuffix(_SUFFIX)
    match name:
        case "All":
            return lambda _: None
        case "None":
            allowed: frozenset[str] = frozenset()
        case "Principal":
            allowed = _PRINCIPAL
        case "Allowlist":
            allowed = frozenset(parse_type(ALLOWLIST, worker.get(ALLOWLIST, ""), Type.LIST))
        case _:
            message = f"Invalid value {given} for configuration {POLICY}: Class {given} could not be found."
            raise ConfigError(message, key=POLICY)

    def refuse(setting: str) -> str | None:
        if setting in allowed:
            return None
        return (
            f"The '{name}' policy does not allow '{setting}' to be overridden in the connector configuration."
        )

    return refuse


def validate_overrides(raw: RawConfig, client: Client, policy: OverridePolicy) -> ConfigInfos:
    """Check the overrides of one client.

    Raises:
        ConfigError: A value cannot be parsed; as in Kafka Connect that ends the validation.
    """
    keys = client_definition(client).keys
    values = []
    for name, text in raw.items():
        if not name.startswith(client.value):
            continue
        setting = name.removeprefix(client.value)
        key = keys.get(setting)
        parsed = text if key is None else parse_type(setting, text, key.type)
        refusal = policy(setting)
        values.append(ConfigValue(setting, parsed, errors=[] if refusal is None else [refusal]))
    return prefixed_infos(client.value, keys, values)
