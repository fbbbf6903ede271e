"""Client overrides: the client settings a connector changes, checked."""

from __future__ import annotations

from copycat_connect.cluster import Config
from copycat_connect.config.override_policy import OverridePolicy
from copycat_connect.config.parsing import parse_type
from copycat_connect.config.values import ConfigValue
from copycat_connect.validation.client_settings import Client, client_definition
from copycat_connect.validation.infos import ConfigInfos, prefixed_infos


def validate_overrides(raw: Config, client: Client, policy: OverridePolicy) -> ConfigInfos:
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
