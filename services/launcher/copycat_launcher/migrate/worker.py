"""What of a worker's properties Copycat does not have, has otherwise, or does not know."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from copycat_connect.config.parsing import parse_type
from copycat_connect.config.placeholders import Placeholders
from copycat_connect.config.setting import Type
from copycat_connect.errors import ConfigError
from copycat_connect.plugin.registry import Plugins
from copycat_connect.plugin.spec import PluginKind
from copycat_connect.validation import WorkerRules
from copycat_eventlog.clients import read_security
from copycat_eventlog.worker_properties import security_of

from copycat_launcher.migrate.differences import missing_converters
from copycat_launcher.migrate.findings import Finding, MigrationVerdict, hide
from copycat_launcher.misspelt import EXTENSIONS, warnings_about
from copycat_launcher.roles import ROLES

PROVIDERS = "config.providers"
REPORTERS = "metric.reporters"
#: Classes of Java that a worker may be given, and what does the same here.
JAVA_CLASSES: Mapping[str, str] = {
    REPORTERS: "remove it; every gateway has all metrics at /metrics (Prometheus) and may send them by OTLP",
    "ssl.engine.factory.class": "remove it; TLS reads PEM files",
    "security.providers": "remove it",
    "sasl.client.callback.handler.class": "remove it; use PLAIN or SCRAM with a name and a password",
    "sasl.login.callback.handler.class": "remove it; use PLAIN or SCRAM with a name and a password",
    "sasl.login.class": "remove it; use PLAIN or SCRAM with a name and a password",
}
#: Defaults that are others here, with theirs and ours.
DEFAULTS: Mapping[str, tuple[str, str]] = {
    "offset.flush.interval.ms": ("60000", "5000"),
    "scheduled.rebalance.max.delay.ms": ("300000", "0"),
}
#: Keys that have no effect here, and why nobody misses them.
WITHOUT_EFFECT: Mapping[str, str] = {
    "plugin.path": "plugins are Python packages: copycat plugins add installs one",
    "plugin.discovery": "plugins are found by the packages that are installed",
    "connect.protocol": "the scheduler divides the work",
    "session.timeout.ms": "worker.lease.ms says when a worker counts as lost",
    "heartbeat.interval.ms": "worker.lease.ms says when a worker counts as lost",
    "worker.sync.timeout.ms": "the scheduler divides the work",
    "worker.unsync.backoff.ms": "the scheduler divides the work",
    "inter.worker.key.generation.algorithm": "workers prove themselves with cluster.secret",
    "inter.worker.key.size": "workers prove themselves with cluster.secret",
    "inter.worker.key.ttl.ms": "workers prove themselves with cluster.secret",
    "inter.worker.signature.algorithm": "workers prove themselves with cluster.secret",
    "inter.worker.verification.algorithms": "workers prove themselves with cluster.secret",
    "auto.include.jmx.reporter": "metrics are at /metrics of any gateway",
    "metrics.recording.level": "all metrics are recorded",
    "internal.key.converter": "the internal topics are JSON, as in Kafka Connect since 3.0",
    "internal.value.converter": "the internal topics are JSON, as in Kafka Connect since 3.0",
    "rest.host.name": "Kafka Connect dropped it, too: use listeners",
    "rest.port": "Kafka Connect dropped it, too: use listeners",
}


@dataclass(frozen=True, slots=True)
class JudgedWorker:
    """A worker's file, judged."""

    findings: tuple[Finding, ...]
    rules: WorkerRules
    """What it says about connectors; Kafka Connect's defaults where it is wrong."""


def judge_worker(properties: Mapping[str, str], plugins: Plugins) -> JudgedWorker:
    """Return what is to be known about a worker's properties; no value of them that is secret."""
    found = [
        *missing_converters(properties, plugins),
        *_providers(properties),
        *_extensions(properties, plugins),
        *(
            Finding(MigrationVerdict.MISSING, key, "names a class of Java, which does not run here", fix)
            for key, fix in JAVA_CLASSES.items()
            if properties.get(key, "").strip()
        ),
        *_settings(properties),
        *_security(properties),
        *_to_know(properties),
    ]
    try:
        rules = WorkerRules.of(properties)
    except ConfigError as error:
        key = error.fields.get("key", "")
        found.append(Finding(MigrationVerdict.REFUSED, key, error.message, "change it"))
        rules = WorkerRules.of({"group.id": properties.get("group.id", "")})
    return JudgedWorker(tuple(hide(_once(found), properties)), rules)


def known_providers(properties: Mapping[str, str]) -> set[str]:
    """Return the aliases of the config providers that a worker's file sets up."""
    return set(_aliases(properties))


def _aliases(properties: Mapping[str, str]) -> list[str]:
    return list(parse_type(PROVIDERS, properties.get(PROVIDERS, ""), Type.LIST) or ())


def _providers(properties: Mapping[str, str]) -> Iterator[Finding]:
    for alias in _aliases(properties):
        prefix = f"{PROVIDERS}.{alias}."
        own = {key: value for key, value in properties.items() if key.startswith(prefix)}
        try:
            Placeholders.from_worker({**own, PROVIDERS: alias}, {})
        except ConfigError as error:
            fix = "use FileConfigProvider, DirectoryConfigProvider or EnvVarConfigProvider of Kafka"
            yield Finding(MigrationVerdict.MISSING, f"{prefix}class", error.message, fix)


def _extensions(properties: Mapping[str, str], plugins: Plugins) -> Iterator[Finding]:
    for name in filter(None, map(str.strip, properties.get(EXTENSIONS, "").split(","))):
        if plugins.get(name, (PluginKind.REST_EXTENSION,)) is None:
            text = f"the REST extension {name} is not here; those written in Java do not run in Copycat"
            fix = "remove it, or write it in Python (a plugin of the kind rest_extension)"
            yield Finding(MigrationVerdict.MISSING, EXTENSIONS, text, fix)


def _settings(properties: Mapping[str, str]) -> Iterator[Finding]:
    """Have each service read its settings, as it does when it starts."""
    for role in ROLES:
        try:
            importlib.import_module(f"{role.module}.settings").read_settings(properties)
        except ConfigError as error:
            key = error.fields.get("key", "")
            yield Finding(
                MigrationVerdict.REFUSED, key, error.message, "change it: the worker would not start"
            )


def _security(properties: Mapping[str, str]) -> Iterator[Finding]:
    """Have the login to Kafka read, as each client does; files are not opened."""
    try:
        read_security(security_of(properties))
    except ConfigError as error:
        key = error.fields.get("key", "")
        yield Finding(MigrationVerdict.REFUSED, key, error.message, "change it: no client could connect")


def _to_know(properties: Mapping[str, str]) -> Iterator[Finding]:
    for key, (theirs, ours) in DEFAULTS.items():
        if key not in properties:
            text = f"not set: the default is {ours} here and {theirs} there"
            yield Finding(MigrationVerdict.RUNS, key, text, f"write {key}={theirs} to keep theirs")
    for key, why in WITHOUT_EFFECT.items():
        if key in properties:
            yield Finding(MigrationVerdict.RUNS, key, f"no effect here: {why}", "remove it when you like")
    for text in warnings_about(properties):
        yield Finding(
            MigrationVerdict.RUNS, text.partition(" ")[0], text.partition(" ")[2], "correct or remove it"
        )


def _once(findings: list[Finding]) -> list[Finding]:
    """Leave out what two services say alike."""
    return list({(each.key, each.text): each for each in findings}.values())
