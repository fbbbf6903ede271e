"""Validation of a connector's configuration from end to end."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from copycat_connect.cluster import Config
from copycat_connect.config.client_choices import refusal
from copycat_connect.config.client_overrides import OverridePolicy, override_policy
from copycat_connect.config.definition import ConfigDef
from copycat_connect.config.delivery import ExactlyOnceSources, Guarantee, guarantee_of_source
from copycat_connect.config.framework_names import (
    CONNECTOR_CLASS,
    CONNECTOR_VERSION,
    HEADER_CONVERTER,
    KEY_CONVERTER,
    OFFSETS_TOPIC,
    TOPIC_CREATION_PREFIX,
    VALUE_CONVERTER,
)
from copycat_connect.config.key import ConfigKey
from copycat_connect.config.parsing import parse_type
from copycat_connect.config.placeholders import provider_of
from copycat_connect.config.setting import ConfigValue, Type
from copycat_connect.config.worker_keys import KIP_STRICT, TOPIC_CREATION
from copycat_connect.plugin.connectors import ExactlyOnceSupport
from copycat_connect.plugin.contexts import TransformationContext
from copycat_connect.plugin.errors import NoConnectorClassError
from copycat_connect.plugin.registry import Plugins
from copycat_connect.plugin.row_query import SQL_KEY, RowTextCheck, check_row_query
from copycat_connect.plugin.spec import PluginKind, PluginSpec
from copycat_connect.plugin.versions import version_range
from copycat_connect.validation.aliases import class_lookup
from copycat_connect.validation.connector_definition import (
    CONVERTER_KINDS,
    DefinitionContext,
    connector_definition,
)
from copycat_connect.validation.exactly_once import check_boundaries, check_exactly_once, check_guarantee
from copycat_connect.validation.infos import ConfigInfos, main_infos, prefixed_infos
from copycat_connect.validation.parts import (
    Client,
    Found,
    NoQueries,
    check_group,
    check_topics,
    check_transformations,
    client_definition,
    dead_letter_topic,
    validate_converter,
)


def _validate_overrides(raw: Config, client: Client, policy: OverridePolicy) -> ConfigInfos:
    """Check the overrides of one client.

    Raises:
        ConfigError: A value cannot be parsed; as in Kafka Connect that ends the validation.
    """
    keys = client_definition(client).keys
    values = []
    for name, text in raw.items():
        if not name.startswith(client.value):
            continue
        setting = name.removeprefix(client.value)
        key = keys.get(setting)
        parsed = text if key is None else parse_type(setting, text, key.type)
        refusals = policy(setting), text and refusal(client.value, setting, text, name)
        values.append(ConfigValue(setting, parsed, errors=[each for each in refusals if each]))
    return prefixed_infos(client.value, keys, values)


def _refuse_unresolved_secrets(
    raw: Config, keys: Mapping[str, ConfigKey], values: Iterable[ConfigValue]
) -> None:
    """Add an error to each password that is a placeholder still; a server would be sent its very letters.

    Other values keep such texts, as in Kafka Connect: they may mean something to the connector.

    Args:
        raw: The configuration, placeholders resolved.
        keys: The connector's own.
        values: What was found about them.
    """
    for value in values:
        key = keys.get(value.name)
        provider = provider_of(raw.get(value.name)) if key and key.type is Type.PASSWORD else None
        if provider is not None:
            value.errors.append(
                f"{value.name} is a placeholder that nobody replaced: the worker has no config provider"
                f" {provider}, or that one has no such entry. Set config.providers={provider} and"
                f" config.providers.{provider}.class among the worker properties and give the entry,"
                f" or write the value itself"
            )


_DEFAULT_HEADER_CONVERTER = "org.apache.kafka.connect.storage.SimpleHeaderConverter"
_NULL_TEXT = "Null value can not be supplied as the configuration value."


class ConnectorHooks(Protocol):
    """The plugin's own say; a connector instance has these methods, source connectors all of them."""

    def validate(self, config: Config) -> list[ConfigValue] | None:
        """Check what single keys cannot say."""

    def exactly_once_support(self, config: Mapping[str, str]) -> ExactlyOnceSupport | None:
        """Say whether this configuration can be delivered exactly once."""


class _SourceHooks(ConnectorHooks, Protocol):
    def can_define_transaction_boundaries(self, config: Mapping[str, str]) -> bool: ...


@dataclass(frozen=True, slots=True)
class WorkerRules:
    """What a worker's properties have to say about connectors."""

    group: str | None
    """Group of a distributed cluster; None for a standalone worker."""
    exactly_once: ExactlyOnceSources
    """Which source connectors may deliver exactly once."""
    policy: OverridePolicy
    """Which client settings may be overridden."""
    converters: Config
    """The worker's converters, by the key that names them."""
    refuses_topic_creation: bool = False
    """New configurations may not ask for topics to be created (KIP-158, `kip.strict`)."""

    def guarantee(self, connector: Config) -> Guarantee:
        """Return the guarantee under which a source connector would run."""
        return guarantee_of_source(connector, self.exactly_once)

    @classmethod
    def of(cls, worker: Mapping[str, str]) -> WorkerRules:
        """Read them from a worker's properties.

        Raises:
            ConfigError: The override policy is unknown, or a switch is neither on nor off.
        """
        converters = {key: worker.get(key) for key in CONVERTER_KINDS}
        converters[HEADER_CONVERTER] = worker.get(HEADER_CONVERTER, _DEFAULT_HEADER_CONVERTER)
        switches = ConfigDef(KIP_STRICT, TOPIC_CREATION).parse(worker)
        return cls(
            worker.get("group.id"),
            ExactlyOnceSources.of(worker),
            override_policy(worker),
            converters,
            refuses_topic_creation=switches[KIP_STRICT.name] and not switches[TOPIC_CREATION.name],
        )


def validate_connector(
    raw: Config,
    spec: PluginSpec,
    plugins: Plugins,
    worker: WorkerRules,
    hooks: ConnectorHooks,
    *,
    report_stage: Callable[[str], None] = lambda stage: None,
    context: TransformationContext | None = None,
    check_row_text: RowTextCheck | None = None,
) -> ConfigInfos:
    """Validate a connector's configuration as Kafka Connect 4.4 does, error texts, order and counts included.

    Args:
        raw: The configuration, placeholders resolved.
        spec: The connector it names.
        plugins: What is installed.
        worker: The worker's rules.
        hooks: The connector instance, or what stands for it.
        report_stage: Told what is being done before it is, so that a deadline can name it.
        context: What transformations may ask; without it they check single keys only.
        check_row_text: What checks a query over the rows that Spark reads; without it nobody does.

    Returns:
        What was found about every key.

    Raises:
        ConfigError: A client override cannot be parsed.
    """
    definition = connector_definition(raw, DefinitionContext(spec.kind, plugins, worker.converters))
    report_stage(f"validating {spec.kind.value} connector-specific properties for the connector")
    found = {value.name: value for value in definition.validate(raw, class_lookup(plugins))}
    _cross_check(raw, spec, found, worker, hooks)
    _refuse_nulls(raw, found)
    if context is not None:
        report_stage("validating the transformations of the connector")
        check_transformations(raw, found, plugins, NoQueries() if spec.on_spark else context)
    converters = [
        validate_converter(raw, found, key, plugins, report_stage)
        for key in (HEADER_CONVERTER, KEY_CONVERTER, VALUE_CONVERTER)
    ]
    report_stage("performing multi-property validation for the connector")
    own = hooks.validate(raw)
    values = [*found.values(), *(spec.config.validate(raw, plugins.class_name) if own is None else own)]
    if check_row_text is not None and SQL_KEY.name in spec.config.keys and spec.on_spark:
        report_stage("validating the query of the connector")
        repeatable = worker.guarantee(raw) is Guarantee.EXACTLY_ONCE
        check_row_query(raw, values, check_row_text, repeatable=repeatable)
    _refuse_unresolved_secrets(raw, spec.config.keys, values)
    keys = {**definition.keys, **spec.config.keys}
    groups = [*definition.groups, *spec.config.groups]
    main = main_infos(raw.get(CONNECTOR_CLASS) or "", keys, values, groups)
    return main.merged([*_overrides(raw, spec.kind, worker, report_stage), *converters])


def connector_plugin(raw: Config, plugins: Plugins) -> PluginSpec:
    """Return the connector that a configuration names.

    Raises:
        NoConnectorClassError: It names none.
        UnknownConnectorClassError: It is not installed.
        AmbiguousConnectorError: Its alias stands for several.
        InvalidVersionRangeError: `connector.plugin.version` is malformed.
    """
    class_name = raw.get(CONNECTOR_CLASS)
    if class_name is None:
        raise NoConnectorClassError
    version_range(raw.get(CONNECTOR_VERSION))
    return plugins.find_connector(class_name)


def _refuse_nulls(raw: Config, found: Found) -> None:
    for name, text in raw.items():
        if text is None:
            found.setdefault(name, ConfigValue(name)).errors.append(_NULL_TEXT)


def _cross_check(
    raw: Config, spec: PluginSpec, found: Found, worker: WorkerRules, hooks: ConnectorHooks
) -> None:
    given = {name: text for name, text in raw.items() if text is not None}
    if spec.kind is PluginKind.SINK:
        check_topics(raw, found)
        if worker.group is not None:
            check_group(raw, found, worker.group)
        check_guarantee(given, found, hooks.exactly_once_support, possible=True, on_spark=spec.on_spark)
        return
    if worker.refuses_topic_creation:
        _refuse_topic_creation(raw, found)
    source: _SourceHooks = hooks  # type: ignore[assignment]  # a source connector has all of them
    # Kafka Connect's standalone workers do not look, and deliver at least once what was to be exactly once.
    possible = worker.exactly_once is not ExactlyOnceSources.NONE
    check_exactly_once(given, found, source.exactly_once_support, worker_enabled=possible)
    check_guarantee(given, found, source.exactly_once_support, possible=possible, on_spark=spec.on_spark)
    if worker.group is not None:
        check_boundaries(given, found, source.can_define_transaction_boundaries)


def _refuse_topic_creation(raw: Config, found: Found) -> None:
    for name, text in raw.items():
        if name.startswith(TOPIC_CREATION_PREFIX):
            reason = f"{name} cannot be used, since the worker has {TOPIC_CREATION.name}=false: remove it"
            found.setdefault(name, ConfigValue(name, text)).errors.append(reason)


def _overrides(
    raw: Config, kind: PluginKind, worker: WorkerRules, report_stage: Callable[[str], None]
) -> list[ConfigInfos]:
    infos = []
    for client in _clients(raw, kind, worker):
        report_stage(f"validating {client.name.lower()} config overrides for the connector")
        infos.append(_validate_overrides(raw, client, worker.policy))
    return infos


def _clients(raw: Config, kind: PluginKind, worker: WorkerRules) -> list[Client]:
    """Return the clients a connector would use, in the order in which they are checked."""
    if kind is PluginKind.SINK:
        dead_letters = bool(dead_letter_topic(raw))
        used = {Client.PRODUCER: dead_letters, Client.CONSUMER: True, Client.ADMIN: dead_letters}
    else:
        own_offsets = worker.group is not None and (
            worker.guarantee(raw) is Guarantee.EXACTLY_ONCE or bool((raw.get(OFFSETS_TOPIC) or "").strip())
        )
        creates_topics = any(name.startswith(TOPIC_CREATION_PREFIX) for name in raw)
        used = {
            Client.PRODUCER: True,
            Client.CONSUMER: own_offsets,
            Client.ADMIN: creates_topics or own_offsets or bool(dead_letter_topic(raw)),
        }
    return [client for client, is_used in used.items() if is_used]
