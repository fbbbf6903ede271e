"""The judgement: a cluster of Kafka Connect, connector by connector."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from copycat_connect.cluster import Config
from copycat_connect.config.framework_names import CONNECTOR_CLASS
from copycat_connect.config.placeholders import has_placeholder
from copycat_connect.config.setting import Type
from copycat_connect.errors import CopycatError
from copycat_connect.plugin.loading import reason_of
from copycat_connect.plugin.registry import Plugins
from copycat_connect.plugin.spec import CONNECTORS, PluginSpec
from copycat_connect.validation import ConfigInfos, WorkerRules, connector_plugin, validate_connector

from copycat_launcher.migrate.differences import Judged, differences, missing_plugins, providers_named
from copycat_launcher.migrate.findings import (
    Finding,
    FoundCluster,
    FoundConnector,
    FoundPositions,
    MigrationVerdict,
    hide,
    hide_in,
    worst,
)

_MEND = "change this key before you move the connector: Copycat would refuse it as it is"
_TELL = "tell the author of the plugin"


def _validated(config: Config, plugins: Plugins, rules: WorkerRules) -> ConfigInfos | Finding:
    """Return what validation finds about every key; a finding where it cannot be done at all.

    Nothing is connected: placeholders stay as they are, and queries of transformations are not tried.
    """
    spec = connector_plugin(config, plugins)
    try:
        return validate_connector(config, spec, plugins, rules, spec.make())
    except CopycatError as error:
        return Finding(MigrationVerdict.REFUSED, error.fields.get("key", ""), error.message, _MEND)
    except Exception as error:  # the top of a call into a plugin: whatever it raises is its answer
        return Finding(MigrationVerdict.REFUSED, "", f"its own validation failed: {reason_of(error)}", _TELL)


def _refusals(found: ConfigInfos, config: Config, settled: Collection[str]) -> Iterator[Finding]:
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
            yield Finding(MigrationVerdict.REFUSED, info.name, text, _MEND)


def _passwords(found: ConfigInfos) -> frozenset[str]:
    """Return the keys whose values are passwords."""
    return frozenset(
        info.name for info in found.infos if info.key is not None and info.key.type is Type.PASSWORD
    )


MAX_TASKS = 1000
FAILED = "FAILED"


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a connector would find here."""

    plugins: Plugins
    rules: WorkerRules
    providers: Collection[str] | None = None
    """Config providers of the worker's file; None where no file was given."""
    max_tasks: int = MAX_TASKS
    """The worker's `max.tasks.per.connector`."""


@dataclass(frozen=True, slots=True)
class JudgedConnector:
    """A connector with its verdict."""

    connector: FoundConnector
    spec: PluginSpec | None
    """None where its class is not here."""
    findings: tuple[Finding, ...]
    offsets: str
    """What becomes of its positions, in words."""

    @property
    def verdict(self) -> MigrationVerdict:
        """The worst of the findings."""
        return worst(finding.verdict for finding in self.findings)


@dataclass(frozen=True, slots=True)
class Judgement:
    """A whole cluster with its verdict."""

    cluster: FoundCluster
    connectors: tuple[JudgedConnector, ...]
    worker: tuple[Finding, ...] | None
    """What is to be known about the worker's file; None where none was given."""

    @property
    def verdict(self) -> MigrationVerdict:
        """The worst of all."""
        found = (finding.verdict for finding in self.worker or ())
        return worst((*found, *(each.verdict for each in self.connectors)))


def judge(
    cluster: FoundCluster, surroundings: Surroundings, worker: tuple[Finding, ...] | None = None
) -> Judgement:
    """Return the judgement of a cluster; no text of it has a secret value."""
    judged = tuple(judge_connector(each, surroundings) for each in cluster.connectors)
    return Judgement(cluster, judged, worker)


def judge_connector(connector: FoundConnector, here: Surroundings) -> JudgedConnector:
    """Return the judgement of one connector."""
    config = connector.config
    spec = here.plugins.get((config.get(CONNECTOR_CLASS) or "").strip(), CONNECTORS)
    findings = missing_plugins(config, here.plugins)
    declared: frozenset[str] = frozenset()
    if spec is not None:
        found = _validated(config, here.plugins, here.rules)
        if isinstance(found, Finding):
            findings.append(found)
        else:
            declared = _passwords(found)
            findings += _refusals(found, config, {finding.key for finding in findings})
            findings += differences(Judged(connector, spec, found, here.max_tasks))
    findings += _providers(connector, here.providers)
    findings += _state(connector)
    offsets = hide_in(_offsets(connector.positions, is_here=spec is not None), config, declared)
    return JudgedConnector(connector, spec, tuple(hide(findings, config, declared)), offsets)


def _offsets(positions: FoundPositions, *, is_here: bool) -> str:
    if positions.count is None:
        return f"unknown: {positions.unknown_because}"
    if positions.count == 0:
        return "none yet"
    return f"{positions.count} {'taken over' if is_here else 'kept, nobody here reads them'}"


def _providers(connector: FoundConnector, known: Collection[str] | None) -> Iterator[Finding]:
    for provider, key in providers_named(connector.config):
        if known is None:
            text = f"needs the config provider {provider} of the worker"
            fix = "give the worker's file to this command to have it checked"
            yield Finding(MigrationVerdict.RUNS, key, text, fix)
        elif provider not in known:
            text = f"needs the config provider {provider}, which the worker's file does not set up"
            yield Finding(
                MigrationVerdict.MISSING,
                key,
                text,
                f"add it to config.providers, or replace ${{{provider}:...}}",
            )


def _state(connector: FoundConnector) -> Iterator[Finding]:
    if FAILED in (connector.state, *connector.task_states):
        text = "FAILED there; here it is started again by itself where its failure may pass"
        yield Finding(MigrationVerdict.RUNS, "", text, "mend it first, so that you see what the move changes")
