"""The framework's definition for one configuration: fixed keys, what aliases bring, and what is installed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from copycat_connect.cluster import Config
from copycat_connect.config.definition import ConfigDef
from copycat_connect.config.delivery import GUARANTEE
from copycat_connect.config.framework import SINK_CONNECTOR, SOURCE_CONNECTOR, SOURCE_WITH_DEAD_LETTERS
from copycat_connect.config.framework_names import (
    CONNECTOR_CLASS,
    CONNECTOR_VERSION,
    DELIVERY_GUARANTEE,
    DLQ_TOPIC,
    HEADER_CONVERTER,
    KEY_CONVERTER,
    PLUGIN_VERSION_SUFFIX,
    VALUE_CONVERTER,
)
from copycat_connect.config.healing import HEALING_KEYS
from copycat_connect.config.key import ConfigKey, Validator
from copycat_connect.config.record_tracing import TRACING_KEYS
from copycat_connect.config.setting import ConfigSetting
from copycat_connect.plugin.registry import Plugins
from copycat_connect.plugin.spec import CONNECTORS, PluginKind, PluginSpec
from copycat_connect.validation.aliases import ClassRecommender, VersionRecommender, alias_keys, check_class

CONVERTER_KINDS: Mapping[str, PluginKind] = {
    KEY_CONVERTER: PluginKind.CONVERTER,
    VALUE_CONVERTER: PluginKind.CONVERTER,
    HEADER_CONVERTER: PluginKind.HEADER_CONVERTER,
}
"""Keys that name a converter, and its kind."""
_VERSIONED: Mapping[str, tuple[PluginKind, ...]] = {
    "connector": CONNECTORS,
    **{key: (kind,) for key, kind in CONVERTER_KINDS.items()},
}


@dataclass(frozen=True, slots=True)
class DefinitionContext:
    """What a definition depends on besides the configuration."""

    kind: PluginKind
    """Source or sink."""
    plugins: Plugins
    """What is installed."""
    converters: Config
    """The worker's converters, which are the defaults."""


def connector_definition(raw: Config, context: DefinitionContext) -> ConfigDef:
    """Return the framework's keys for a connector's configuration."""
    if context.kind is PluginKind.SINK:
        fixed = SINK_CONNECTOR
    else:
        # Without the key the answer is Kafka Connect's.
        fixed = SOURCE_WITH_DEAD_LETTERS if DLQ_TOPIC in raw else SOURCE_CONNECTOR
    if DELIVERY_GUARANTEE in raw:
        fixed = fixed.extended(GUARANTEE)
    for name, key in {**HEALING_KEYS, **TRACING_KEYS}.items():
        if name in raw:
            fixed = fixed.extended(key)
    bound = (_bind(key, raw, context) for key in fixed.keys.values())
    return ConfigDef(*bound, *alias_keys(raw, context.plugins))


def _bind(key: ConfigKey, raw: Config, context: DefinitionContext) -> ConfigKey:
    if key.name in CONVERTER_KINDS:
        return _bind_converter(key, context)
    if key.name == CONNECTOR_CLASS:
        spec = context.plugins.get((raw.get(CONNECTOR_CLASS) or "").strip(), CONNECTORS)
        check = _is_version_of(spec, context.plugins)
        return replace(key, validator=lambda name, _: check(name, raw.get(CONNECTOR_VERSION)))
    role = key.name.removesuffix(PLUGIN_VERSION_SUFFIX)
    return key if role == key.name else _bind_version(key, role, raw, context)


def _bind_converter(key: ConfigKey, context: DefinitionContext) -> ConfigKey:
    kind, plugins = CONVERTER_KINDS[key.name], context.plugins
    default = context.converters.get(key.name)
    return replace(
        key,
        default=None if default is None else plugins.class_name(default),
        validator=_is_a(kind, plugins),
        recommender=ClassRecommender(plugins, kind),
    )


def _bind_version(key: ConfigKey, role: str, raw: Config, context: DefinitionContext) -> ConfigKey:
    class_key = CONNECTOR_CLASS if role == "connector" else role
    class_name = raw.get(class_key) or context.converters.get(class_key)
    spec = context.plugins.get((class_name or "").strip(), _VERSIONED[role])
    named = spec if class_key in raw else None
    return replace(
        key,
        default=None if spec is None else spec.version,
        validator=_is_version_of(named, context.plugins),
        recommender=VersionRecommender(spec, class_key),
    )


def _is_a(kind: PluginKind, plugins: Plugins) -> Validator:
    def check(name: str, value: ConfigSetting) -> None:
        del name
        if value is not None:
            check_class(value, kind, plugins)

    return check


def _is_version_of(spec: PluginSpec | None, plugins: Plugins) -> Validator:
    def check(name: str, value: ConfigSetting) -> None:
        del name
        if spec is not None and value is not None and value != spec.version:
            plugins.check_version(spec, str(value))

    return check
