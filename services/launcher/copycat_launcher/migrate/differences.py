"""What a connector names that is not here, and what is other here of one that runs; each with what to do.

What differs for every connector alike (`services/gateway/DIFFERENCES.md`) is no finding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from copycat_cli.advice import similar
from copycat_connect.cluster import Config
from copycat_connect.config.client_overrides import (
    ADMIN_OVERRIDE,
    BOOTSTRAP_SERVERS,
    CONSUMER_OVERRIDE,
    PRODUCER_OVERRIDE,
    under,
)
from copycat_connect.config.framework_names import (
    CONNECTOR_CLASS,
    DLQ_TOPIC,
    HEADER_CONVERTER,
    KEY_CONVERTER,
    PREDICATES,
    TASKS_MAX,
    TRANSFORMS,
    VALUE_CONVERTER,
)
from copycat_connect.config.placeholders import find_placeholders, has_placeholder
from copycat_connect.errors import ConfigError, CopycatError
from copycat_connect.plugin.errors import UnknownConnectorClassError
from copycat_connect.plugin.registry import Plugins
from copycat_connect.plugin.spec import CONNECTORS, PluginKind, PluginSpec
from copycat_connect.validation import ConfigInfos
from copycat_connect.validation.parts import Client, client_definition
from copycat_executor.kafka.client_config import ClientConfig, admin_config, consumer_config, producer_config

from copycat_launcher.migrate.findings import Finding, FoundConnector, MigrationVerdict

_CONVERTERS: Mapping[str, PluginKind] = {
    KEY_CONVERTER: PluginKind.CONVERTER,
    VALUE_CONVERTER: PluginKind.CONVERTER,
    HEADER_CONVERTER: PluginKind.HEADER_CONVERTER,
}
_FAMILIES: Mapping[str, PluginKind] = {
    TRANSFORMS: PluginKind.TRANSFORMATION,
    PREDICATES: PluginKind.PREDICATE,
}
_STAY = (
    "or leave this connector where it is: both systems may run side by side, each with a group.id of its own"
)
#: How like a class of ours the name of one that is missing must be to be taken for the same thing.
_ALIKE = 0.8


@dataclass(frozen=True, slots=True)
class _PluginNeed:
    """One plugin that a configuration names."""

    key: str
    class_name: str
    kind: PluginKind


def missing_plugins(config: Config, plugins: Plugins) -> list[Finding]:
    """Return a finding for each plugin that a connector names and that is not here."""
    found = [_connector(config, plugins)]
    found += [_plugin(need, plugins) for need in _needs(config)]
    return [each for each in found if each is not None]


def _needs(config: Config) -> Iterator[_PluginNeed]:
    """Yield the plugins that a configuration, of a connector or of a worker, names besides the connector."""
    for key, kind in _CONVERTERS.items():
        yield from _need(config, key, kind)
    for family, kind in _FAMILIES.items():
        for alias in filter(None, map(str.strip, (config.get(family) or "").split(","))):
            yield from _need(config, f"{family}.{alias}.type", kind)


def missing_converters(worker: Config, plugins: Plugins) -> list[Finding]:
    """Return a finding for each converter that a worker's file names and that is not here."""
    return [found for need in _needs(worker) if (found := _plugin(need, plugins)) is not None]


def providers_named(config: Config) -> Iterator[tuple[str, str]]:
    """Yield each config provider that a value needs, with the first key whose value does."""
    seen = set()
    for key, value in config.items():
        for provider in (each.provider for each in find_placeholders(value)):
            if provider and provider not in seen:
                seen.add(provider)
                yield provider, key


def _need(config: Config, key: str, kind: PluginKind) -> Iterator[_PluginNeed]:
    value = (config.get(key) or "").strip()
    if value and not has_placeholder(value):
        yield _PluginNeed(key, value, kind)


def _connector(config: Config, plugins: Plugins) -> Finding | None:
    name = (config.get(CONNECTOR_CLASS) or "").strip()
    if not name:
        return Finding(MigrationVerdict.REFUSED, CONNECTOR_CLASS, "it is not set", "name a class")
    try:
        plugins.find_connector(name)
    except UnknownConnectorClassError:
        return _missing(
            _PluginNeed(CONNECTOR_CLASS, name, PluginKind.SOURCE), plugins, "connector", CONNECTORS
        )
    except CopycatError as error:  # several have this alias, or it is installed and cannot be loaded
        return Finding(
            MigrationVerdict.MISSING, CONNECTOR_CLASS, error.message, "copycat plugins lists what is here"
        )
    return None


def _plugin(need: _PluginNeed, plugins: Plugins) -> Finding | None:
    if plugins.get(need.class_name, (need.kind,)) is not None:
        return None
    try:
        plugins.refuse_unloadable(need.class_name)
    except ConfigError as error:
        return Finding(MigrationVerdict.MISSING, need.key, error.message, "mend or remove that package")
    return _missing(need, plugins, need.kind.value.replace("_", " "), (need.kind,))


def _missing(need: _PluginNeed, plugins: Plugins, noun: str, kinds: tuple[PluginKind, ...]) -> Finding:
    text = f"the {noun} {need.class_name} is not here; plugins written in Java do not run in Copycat"
    known = {_simple(spec.class_name): spec.class_name for spec in plugins.all() if spec.kind in kinds}
    close = [known[name] for name in similar(_simple(need.class_name), known, closeness=_ALIKE)]
    instead = f"use {' or '.join(close)}, " if close else ""
    write = f"write it in Python and install it (copycat plugins add), {_STAY}"
    return Finding(MigrationVerdict.MISSING, need.key, text, instead + write)


def _simple(class_name: str) -> str:
    return class_name.rpartition(".")[2]


FILE_SOURCE = "org.apache.kafka.connect.file.FileStreamSourceConnector"
NO_EFFECT = "No effect"
ASSIGNMENT = f"{CONSUMER_OVERRIDE}partition.assignment.strategy"
#: Below these stand settings of others: of clients, converters, transformations, topics.
OF_OTHERS = (
    PRODUCER_OVERRIDE,
    CONSUMER_OVERRIDE,
    ADMIN_OVERRIDE,
    "key.converter.",
    "value.converter.",
    "header.converter.",
    "transforms.",
    "predicates.",
    "topic.creation.",
    # Settings of the clients of mirror connectors, by cluster.
    "source.",
    "target.",
)
MISSPELT_SIMILARITY = 0.8


@dataclass(frozen=True, slots=True)
class Judged:
    """A connector that can be validated, with all that is asked about it."""

    connector: FoundConnector
    spec: PluginSpec
    found: ConfigInfos
    max_tasks: int
    """The worker's `max.tasks.per.connector`."""

    @property
    def config(self) -> Config:
        """As it was written."""
        return self.connector.config


def differences(judged: Judged) -> list[Finding]:
    """Return what differs."""
    return [finding for look in LOOKS for finding in look(judged)]


def _unknown_keys(judged: Judged) -> Iterator[Finding]:
    defined = {info.name for info in judged.found.infos if info.key is not None}
    for key in judged.config:
        if key in defined or key == "name" or key.startswith(OF_OTHERS):
            continue
        close = similar(key, defined - set(judged.config), closeness=MISSPELT_SIMILARITY)
        fix = (
            f"write {close[0]}" if close else "remove it, or read the connector's page for what does the same"
        )
        text = f"{judged.spec.class_name.rpartition('.')[2]} has no such key here, so it has no effect"
        yield Finding(MigrationVerdict.DIFFERS, key, text, fix)


def _keys_without_effect(judged: Judged) -> Iterator[Finding]:
    for info in judged.found.infos:
        if info.key is None or not info.key.doc.startswith(NO_EFFECT):
            continue
        if info.name in judged.config and info.value.value != info.key.default:
            text = f"taken, but without effect here{info.key.doc.removeprefix(NO_EFFECT)}"
            yield Finding(
                MigrationVerdict.DIFFERS, info.name, text.rstrip("."), "see whether you can do without it"
            )


def _file_positions(judged: Judged) -> Iterator[Finding]:
    if judged.spec.class_name == FILE_SOURCE and judged.connector.positions.count != 0:
        yield Finding(
            MigrationVerdict.DIFFERS,
            "file",
            "positions are bytes here and characters there: the same for ASCII, and for a file with other"
            " characters the first start would read some lines again",
            "if the file is not plain ASCII, stop the connector here and set its offset with"
            " `copycat offsets alter`",
        )


def _dead_letters_of_a_source(judged: Judged) -> Iterator[Finding]:
    if judged.spec.kind is PluginKind.SOURCE and (judged.config.get(DLQ_TOPIC) or "").strip():
        text = "a source has a dead letter queue here; Kafka Connect ignores the key on sources"
        yield Finding(
            MigrationVerdict.DIFFERS, DLQ_TOPIC, text, "keep it, or remove it if no such topic is wanted"
        )


def _assignment(judged: Judged) -> Iterator[Finding]:
    if ASSIGNMENT in judged.config:
        text = "the partitions of a sink are divided by Copycat's scheduler, whatever strategy is named"
        yield Finding(MigrationVerdict.DIFFERS, ASSIGNMENT, text, "remove it")


def _many_tasks(judged: Judged) -> Iterator[Finding]:
    wanted = (judged.config.get(TASKS_MAX) or "").strip()
    if wanted.isdecimal() and int(wanted) > judged.max_tasks:
        text = f"a connector has at most {judged.max_tasks} tasks here"
        fix = "raise max.tasks.per.connector in the worker's properties"
        yield Finding(MigrationVerdict.DIFFERS, TASKS_MAX, text, fix)


def _overrides(judged: Judged) -> Iterator[Finding]:
    clients: dict[Client, Callable[[], ClientConfig]] = {
        Client.PRODUCER: lambda: producer_config({}, judged.config, "migrate"),
        Client.CONSUMER: lambda: consumer_config({}, judged.config, "migrate", "migrate"),
        Client.ADMIN: lambda: admin_config({}, judged.config, "migrate"),
    }
    refused = {info.name for info in judged.found.infos if info.value.errors}
    for client, make in clients.items():
        given = under(judged.config, client.value)
        if given:
            yield from (each for each in _client(client, given, make) if each.key not in refused)


def _client(client: Client, given: dict[str, str], make: Callable[[], ClientConfig]) -> Iterator[Finding]:
    prefix = client.value
    try:
        unknown = make().unknown
    except CopycatError as error:
        key = prefix + error.fields.get("key", BOOTSTRAP_SERVERS).removeprefix(prefix)
        yield Finding(
            MigrationVerdict.REFUSED, key, error.message, "change it: the client cannot be made with it"
        )
        return
    known = client_definition(client).keys
    for key in unknown:
        if key not in given:
            continue
        if key in known:
            fix = "use PEM files" if key.startswith("ssl.") else "remove it, or name what does the same"
            text = "the Kafka client here (librdkafka) has no such setting, so it has no effect"
        else:
            close = similar(key, known, closeness=MISSPELT_SIMILARITY)
            fix = f"write {prefix}{close[0]}" if close else "remove it"
            text = "no client of Kafka has such a setting, so it has no effect, there as here"
        yield Finding(MigrationVerdict.DIFFERS, prefix + key, text, fix)


LOOKS: tuple[Callable[[Judged], Iterator[Finding]], ...] = (
    _unknown_keys,
    _keys_without_effect,
    _file_positions,
    _dead_letters_of_a_source,
    _assignment,
    _many_tasks,
    _overrides,
)
