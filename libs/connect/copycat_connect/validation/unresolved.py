"""Secrets that nobody looked up: placeholders which no config provider of the worker knows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from copycat_connect.cluster import Config
from copycat_connect.config.key import ConfigKey
from copycat_connect.config.placeholders import provider_of
from copycat_connect.config.setting import Type
from copycat_connect.config.values import ConfigValue


def refuse_unresolved_secrets(
    raw: Config, keys: Mapping[str, ConfigKey], values: Iterable[ConfigValue]
) -> None:
    """Add an error to each password that is a placeholder still; a server would be sent its very letters.

    Other values keep such texts, as in Kafka Connect: they may mean something to the connector.

    Args:
        raw: The configuration, placeholders resolved.
        keys: The connector's own.
        values: What was found about them.
    """
    for value in values:
        key = keys.get(value.name)
        provider = provider_of(raw.get(value.name)) if key and key.type is Type.PASSWORD else None
        if provider is not None:
            value.errors.append(
                f"{value.name} is a placeholder that nobody replaced: the worker has no config provider"
                f" {provider}, or that one has no such entry. Set config.providers={provider} and"
                f" config.providers.{provider}.class among the worker properties and give the entry,"
                f" or write the value itself"
            )
