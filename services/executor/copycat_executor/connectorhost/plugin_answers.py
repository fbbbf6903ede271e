"""Answers about plugins: listings, key definitions, validation results."""

from __future__ import annotations

from copycat_connect.config.key import ConfigKey
from copycat_connect.config.parsing import setting_to_string
from copycat_connect.error_text import bounded, text_of
from copycat_connect.plugin.registry import Plugins
from copycat_connect.plugin.spec import LISTED, PluginSpec
from copycat_connect.validation import ConfigInfo, ConfigInfos

from copycat_executor.connectorhost.secrets import Resolved
from copycat_executor.domain.running import UsedPlugin
from copycat_executor.pipes.plugin_facts import (
    KeyDefinition,
    ListedPlugin,
    PluginListing,
    ValidatedKey,
    ValidationFacts,
)

UNDEFINED = "undefined"


def listing(plugins: Plugins) -> PluginListing:
    """List the plugins in Connect's order, and those that are installed but cannot be used."""
    listed = (
        ListedPlugin(spec.class_name, spec.kind.value, version(spec), tuple(plugins.aliases(spec)))
        for spec in plugins.all()
        if spec.kind in LISTED
    )
    return PluginListing(tuple(listed), tuple(plugins.unloadable))


def identity(spec: PluginSpec) -> UsedPlugin:
    """Say which plugin it is."""
    return UsedPlugin(spec.class_name, spec.kind.value, version(spec))


def version(spec: PluginSpec) -> str | None:
    """Return a plugin's version, None when it has none."""
    return spec.version if spec.version and spec.version != UNDEFINED else None


def key_definition(key: ConfigKey, name: str) -> KeyDefinition:
    """Describe a key under the name it has in its place."""
    return KeyDefinition(
        name=name,
        type=key.type.value,
        required=not key.has_default,
        default=setting_to_string(key.default, key.type) if key.has_default else None,
        importance=key.importance.value,
        documentation=key.doc,
        group=key.group,
        width=key.width.value,
        display_name=key.display_name,
        dependents=tuple(key.dependents),
        order=key.order,
    )


def validation(infos: ConfigInfos, spec: PluginSpec, config: Resolved) -> ValidationFacts:
    """Describe what validation found, without a resolved secret in it."""
    return ValidationFacts(
        name=infos.name,
        kind=spec.kind.value,
        error_count=infos.error_count,
        groups=infos.groups,
        configs=tuple(_validated(info, config) for info in infos.infos),
    )


def _validated(info: ConfigInfo, config: Resolved) -> ValidatedKey:
    """Describe a key; a value that a config provider gave is shown as it was written, without proposals."""
    is_given = config.is_given(info.name)
    return ValidatedKey(
        definition=None if info.key is None else key_definition(info.key, info.name),
        name=info.name,
        value=config.raw[info.name] if is_given else info.value_text,
        recommended=() if is_given else tuple(map(config.scrub_refusal, info.recommended_texts)),
        errors=tuple(bounded(config.scrub_refusal(text_of(error), info.name)) for error in info.value.errors),
        visible=info.value.visible,
    )
