"""Validates a configuration with the code that Copycat itself refuses configurations with."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from copycat_connect.cluster import Config
from copycat_connect.config.placeholders import has_placeholder
from copycat_connect.config.setting import Type
from copycat_connect.errors import CopycatError
from copycat_connect.plugin.loading import reason_of
from copycat_connect.plugin.registry import Plugins
from copycat_connect.validation import ConfigInfos, WorkerRules, connector_plugin, validate_connector

from copycat_launcher.migrate.findings import Finding, Verdict

MEND = "change this key before you move the connector: Copycat would refuse it as it is"
TELL = "tell the author of the plugin"


def validated(config: Config, plugins: Plugins, rules: WorkerRules) -> ConfigInfos | Finding:
    """Return what validation finds about every key; a finding where it cannot be done at all.

    Nothing is connected: placeholders stay as they are, and queries of transformations are not tried.
    """
    spec = connector_plugin(config, plugins)
    try:
        return validate_connector(config, spec, plugins, rules, spec.factory())
    except CopycatError as error:
        return Finding(Verdict.REFUSED, error.fields.get("key", ""), error.message, MEND)
    except Exception as error:  # the top of a call into a plugin: whatever it raises is its answer
        return Finding(Verdict.REFUSED, "", f"its own validation failed: {reason_of(error)}", TELL)


def refusals(found: ConfigInfos, config: Config, settled: Collection[str]) -> Iterator[Finding]:
    """Yield a finding for each error of validation.

    Args:
        found: What validation found.
        config: What was validated; a value with a placeholder is not judged, since it is another at work.
        settled: Keys that have a finding already.
    """
    for info in found.infos:
        if info.name in settled or has_placeholder(config.get(info.name)):
            continue
        for text in info.value.errors:
            yield Finding(Verdict.REFUSED, info.name, text, MEND)


def passwords(found: ConfigInfos) -> frozenset[str]:
    """Return the keys whose values are passwords."""
    return frozenset(
        info.name for info in found.infos if info.key is not None and info.key.type is Type.PASSWORD
    )
