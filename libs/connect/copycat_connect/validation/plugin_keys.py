"""The keys of one plugin, as REST lists them."""

from __future__ import annotations

from copycat_connect.config.framework import SINK_CONNECTOR, SOURCE_CONNECTOR
from copycat_connect.config.key import ConfigKey
from copycat_connect.plugin.spec import PluginKind, PluginSpec


def plugin_keys(spec: PluginSpec) -> list[ConfigKey]:
    """Return a plugin's own keys, then for a connector the framework's that it does not define itself."""
    own = spec.config.keys
    if not spec.kind.is_connector:
        return list(own.values())
    framework = SINK_CONNECTOR if spec.kind is PluginKind.SINK else SOURCE_CONNECTOR
    return [*own.values(), *(key for name, key in framework.keys.items() if name not in own)]
