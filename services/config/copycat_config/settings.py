"""What the config service reads from the worker properties."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from copycat_connect.config import ConfigDef
from copycat_connect.config.worker_keys import listen_key
from copycat_eventlog.settings import LogSettings
from copycat_eventlog.worker_properties import GROUP_ID, LogTopic, backend_key

LISTEN = listen_key("config")
EVERYWHERE = ConfigDef(LISTEN, backend_key("connector configurations"))
TOPIC = LogTopic(
    name="config",
    purpose="connector configurations",
    # The id Kafka Connect's leader has: whoever comes later fences the other, whichever of us it is.
    owner="connect-cluster-{}",
    loss="which connectors there are, with their configurations and target states",
    irreplaceable=True,
)


@dataclass(frozen=True, slots=True)
class ConfigServiceSettings:
    """The service's own settings."""

    listen: str
    """host:port to bind."""
    log: LogSettings
    """The config topic."""
    group: str
    """Name of the Connect cluster; empty for a standalone worker."""


def read_settings(properties: Mapping[str, str]) -> ConfigServiceSettings:
    """Read the worker properties.

    Raises:
        ConfigError: One is missing or wrong; the text names it.
    """
    found = EVERYWHERE.parse(properties)
    log = TOPIC.read(properties, EVERYWHERE)
    return ConfigServiceSettings(found[LISTEN.name], log, properties.get(GROUP_ID.name, "").strip())
