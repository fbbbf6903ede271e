"""Answers about plugins as JSON: listings, key definitions, validation results."""

from __future__ import annotations

from typing import Any

from copycat_connect.config.key import ConfigKey
from copycat_connect.config.parsing import setting_to_string
from copycat_connect.plugin.registry import Plugins
from copycat_connect.plugin.spec import LISTED, PluginSpec
from copycat_connect.validation import ConfigInfo, ConfigInfos

from copycat_executor.connectorhost.secrets import Resolved

UNDEFINED = "undefined"


def listing(plugins: Plugins) -> dict[str, list[dict[str, Any]]]:
    """List the plugins in Connect's order, and those that are installed but cannot be used."""
    return {
        "plugins": [
            {
                "class": spec.class_name,
                "type": spec.kind.value,
                "version": version(spec),
                "aliases": list(plugins.aliases(spec)),
            }
            for spec in plugins.all()
            if spec.kind in LISTED
        ],
        "unloadable": [each.as_map() for each in plugins.unloadable],
    }


def identity(spec: PluginSpec) -> dict[str, str | None]:
    """Say which plugin it is."""
    return {"class": spec.class_name, "type": spec.kind.value, "version": version(spec)}


def version(spec: PluginSpec) -> str | None:
    """Return a plugin's version, None when it has none."""
    return spec.version if spec.version and spec.version != UNDEFINED else None


def key_definition(key: ConfigKey, name: str) -> dict[str, Any]:
    """Describe a key under the name it has in its place."""
    default = setting_to_string(key.default, key.type) if key.has_default else None
    return {
        "name": name,
        "type": key.type.value,
        "required": not key.has_default,
        "default": default,
        "importance": key.importance.value,
        "documentation": key.doc,
        "group": key.group,
        "width": key.width.value,
        "display_name": key.display_name,
        "dependents": list(key.dependents),
        "order": key.order,
    }


def validation(infos: ConfigInfos, spec: PluginSpec, config: Resolved) -> dict[str, Any]:
    """Describe what validation found, without a resolved secret in it."""
    return {
        "name": infos.name,
        "type": spec.kind.value,
        "error_count": infos.error_count,
        "groups": list(infos.groups),
        "configs": [_info(info, config) for info in infos.infos],
    }


def _info(info: ConfigInfo, config: Resolved) -> dict[str, Any]:
    return {
        "definition": None if info.key is None else key_definition(info.key, info.name),
        "name": info.name,
        "value": config.shown(info.name, info.value_text),
        "recommended": info.recommended_texts,
        "errors": [config.scrub(error) for error in info.value.errors],
        "visible": info.value.visible,
    }
