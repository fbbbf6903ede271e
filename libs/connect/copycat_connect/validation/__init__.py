"""Validation of whole connector configurations, as Kafka Connect's REST API answers it."""

from copycat_connect.validation.connector import (
    ConnectorHooks,
    WorkerRules,
    connector_plugin,
    validate_connector,
)
from copycat_connect.validation.infos import ConfigInfo, ConfigInfos
from copycat_connect.validation.parts import plugin_keys

__all__ = [
    "ConfigInfo",
    "ConfigInfos",
    "ConnectorHooks",
    "WorkerRules",
    "connector_plugin",
    "plugin_keys",
    "validate_connector",
]
