"""What transformations themselves have to say about their settings, once each key is fine."""

from __future__ import annotations

from collections.abc import MutableMapping

from copycat_connect.config.definition import RawConfig
from copycat_connect.config.framework_names import TRANSFORMS
from copycat_connect.config.values import ConfigValue
from copycat_connect.plugin.contexts import TransformationContext
from copycat_connect.plugin.loading import reason_of
from copycat_connect.plugin.registry import Plugins
from copycat_connect.plugin.spec import PluginKind
from copycat_connect.plugin.transformations import Transformation


def check_transformations(
    raw: RawConfig, found: MutableMapping[str, ConfigValue], plugins: Plugins, context: TransformationContext
) -> None:
    """Add the errors that transformations find to what was found about their keys."""
    aliases = found[TRANSFORMS].value
    for alias in dict.fromkeys(aliases if isinstance(aliases, list) else ()):
        prefix = f"{TRANSFORMS}.{alias}."
        own = [value for name, value in found.items() if name.startswith(prefix)]
        spec = plugins.get((raw.get(f"{prefix}type") or "").strip(), (PluginKind.TRANSFORMATION,))
        if spec is None or any(value.errors for value in own):
            continue
        settings = {key.removeprefix(prefix): text for key, text in raw.items() if key.startswith(prefix)}
        try:
            transformation: Transformation = spec.factory()
        except Exception as error:  # the top of a call into a plugin: whatever it raises is its answer
            found[f"{prefix}type"].errors.append(
                f"Failed to load class {spec.class_name}: {reason_of(error)}"
            )
            continue
        transformation.initialize(context)
        for value in transformation.validate(settings):
            found[prefix + value.name].errors.extend(value.errors)
