"""What the config service reads from the worker properties."""

from __future__ import annotations

from collections.abc import Mapping

from copycat_connect.config.settings import Settings, shared_key, taken_from
from copycat_connect.config.worker_keys import listen_key
from copycat_eventlog.settings import Backend, LogSettings
from copycat_eventlog.worker_properties import GROUP_ID, LogTopic, backend_key

TOPIC = LogTopic(
    name="config",
    purpose="connector configurations",
    # The id Kafka Connect's leader has: whoever comes later fences the other, whichever of us it is.
    owner="connect-cluster-{}",
    loss="which connectors there are, with their configurations and target states",
    irreplaceable=True,
)


class ConfigServiceSettings(Settings):
    """The service's own settings."""

    listen: str = shared_key(listen_key("config"))
    backend: Backend = shared_key(backend_key("connector configurations"), read=Backend)
    log: LogSettings = taken_from(lambda worker: TOPIC.read(worker, ConfigServiceSettings.config_def()))
    """The config topic."""
    group: str = taken_from(lambda worker: worker.get(GROUP_ID.name, "").strip())
    """Name of the Connect cluster; empty for a standalone worker."""


def read_settings(properties: Mapping[str, str]) -> ConfigServiceSettings:
    """Read the worker properties.

    Raises:
        ConfigError: One is missing or wrong; the text names it.
    """
    return ConfigServiceSettings.parse(properties)
