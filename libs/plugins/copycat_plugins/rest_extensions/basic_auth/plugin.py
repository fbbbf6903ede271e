"""BasicAuthSecurityRestExtension as the gateway finds it."""

from __future__ import annotations

from copycat_connect.kafka_version import KAFKA_VERSION
from copycat_connect.plugin import PluginKind, PluginSpec

from copycat_plugins.rest_extensions.basic_auth import spec
from copycat_plugins.rest_extensions.basic_auth.extension import BasicAuthSecurityRestExtension

PLUGIN = PluginSpec(
    class_name=spec.CLASS_NAME,
    kind=PluginKind.REST_EXTENSION,
    version=KAFKA_VERSION,
    summary=spec.SUMMARY,
    config=spec.CONFIG,
    factory=BasicAuthSecurityRestExtension,
    guarantees=spec.GUARANTEES,
    examples=spec.EXAMPLES,
)
