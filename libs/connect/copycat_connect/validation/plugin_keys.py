"""The keys of one plugin, as REST lists them."""

from __future__ import annotations

from dataclasses import replace

from copycat_connect.config.framework import SINK_CONNECTOR, SOURCE_CONNECTOR
from copycat_connect.config.framework_names import CONNECTOR_VERSION
from copycat_connect.config.key import ConfigKey
from copycat_connect.plugin.spec import PluginKind, PluginSpec


def plugin_keys(spec: PluginSpec) -> list[ConfigKey]:
    """Return a plugin's own keys, then for a connector the framework's that it does not define itself."""
    own = spec.config.keys
    if not spec.kind.is_connector:
        return list(own.values())
    framework = SINK_CONNECTOR if spec.kind is PluginKind.SINK else SOURCE_CONNECTOR
    shared = {**framework.keys, CONNECTOR_VERSION: _version_key(framework.keys[CONNECTOR_VERSION], spec)}
    return [*own.values(), *(key for name, key in shared.items() if name not in own)]


def _version_key(key: ConfigKey, spec: PluginSpec) -> ConfigKey:
    return replace(key, default=spec.version)
