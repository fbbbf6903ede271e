"""Validation of the converters a connector brings itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from copycat_connect.cluster import Config
from copycat_connect.config.framework_names import PLUGIN_VERSION_SUFFIX
from copycat_connect.config.values import ConfigValue
from copycat_connect.error_text import said_by
from copycat_connect.plugin.converters import CONVERTER_TYPE
from copycat_connect.plugin.errors import InvalidVersionRangeError, NoSuchVersionError
from copycat_connect.plugin.registry import Plugins
from copycat_connect.plugin.spec import PluginKind
from copycat_connect.validation.infos import ConfigInfos, prefixed_infos


def validate_converter(
    raw: Config,
    found: Mapping[str, ConfigValue],
    key: str,
    plugins: Plugins,
    report_stage: Callable[[str], None],
) -> ConfigInfos | None:
    """Check the settings of one converter.

    Args:
        raw: The connector's configuration.
        found: What was found about the framework's keys; a problem with the converter is added there.
        key: `key.converter`, `value.converter` or `header.converter`.
        plugins: What is installed.
        report_stage: Told what is being done, before it is.

    Returns:
        The converter's keys with their prefix; None when the connector brings none, or a bad one.
    """
    class_name = raw.get(key)
    if class_name is None or found[key].errors:
        return None
    role = key.partition(".")[0]
    noun = f"{role} converter"
    kind = PluginKind.HEADER_CONVERTER if role == "header" else PluginKind.CONVERTER
    spec = plugins.find(class_name.strip(), (kind,))
    try:
        plugins.check_version(spec, raw.get(f"{key}{PLUGIN_VERSION_SUFFIX}"))
    except NoSuchVersionError as error:
        found[key].errors.append(error.message)
        return None
    except InvalidVersionRangeError:
        return None  # the version's own key says so
    report_stage(f"instantiating the connector's {noun} for validation")
    try:
        spec.make()
    except BaseException as error:  # the top of a call into a plugin: whatever it raises is its answer
        said = said_by(error)
        reason = f": {said}" if said else ""
        found[key].errors.append(f"Failed to load class {class_name}{reason}")
        return None
    report_stage(f"performing config validation for the connector's {noun}")
    prefix = f"{key}."
    settings: dict[str, str | None] = {CONVERTER_TYPE: role}
    settings |= {name.removeprefix(prefix): text for name, text in raw.items() if name.startswith(prefix)}
    return prefixed_infos(prefix, spec.config.keys, spec.config.validate(settings, plugins.class_name))
