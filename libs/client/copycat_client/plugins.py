"""What executors say about plugins and configurations."""

from __future__ import annotations

from dataclasses import dataclass

from copycat.executor.v1 import executor_service_pb2 as pb


@dataclass(frozen=True, slots=True)
class Plugin:
    """A plugin a worker can load."""

    class_name: str
    """As Kafka Connect writes it."""
    type: str
    """source, sink, converter, header_converter, transformation or predicate."""
    version: str | None
    """Its version, where it has one."""
    aliases: tuple[str, ...]
    """Other names it answers to."""


@dataclass(frozen=True, slots=True)
class ConfigKey:
    """The definition of one config key."""

    name: str
    """The key."""
    type: str
    """BOOLEAN, STRING, INT, SHORT, LONG, DOUBLE, LIST, CLASS or PASSWORD."""
    required: bool
    """It has no default."""
    default_value: str | None
    """The default as text."""
    importance: str
    """HIGH, MEDIUM or LOW."""
    documentation: str
    """What it does."""
    group: str | None
    """The group it is shown in."""
    width: str
    """NONE, SHORT, MEDIUM or LONG."""
    display_name: str
    """Its title."""
    dependents: tuple[str, ...]
    """Keys that depend on it."""
    order: int
    """Its place in the group; -1 for none."""


@dataclass(frozen=True, slots=True)
class ConfigFinding:
    """What validation found about one key."""

    name: str
    """The key."""
    value: str | None
    """The value as text; `[hidden]` for passwords."""
    recommended_values: tuple[str, ...]
    """Values that would do."""
    errors: tuple[str, ...]
    """What is wrong."""
    visible: bool
    """False when other values make it meaningless."""
    definition: ConfigKey | None
    """Nothing for a key nobody defines."""


@dataclass(frozen=True, slots=True)
class Validation:
    """What validation found."""

    name: str
    """The `connector.class` as given."""
    type: str
    """source or sink."""
    error_count: int
    """How many errors there are."""
    groups: tuple[str, ...]
    """Groups of keys."""
    findings: tuple[ConfigFinding, ...]
    """Key by key, in Kafka Connect's order."""


def plugin_of(message: pb.Plugin) -> Plugin:
    """Read a plugin."""
    version = message.version if message.HasField("version") else None
    return Plugin(message.class_name, message.type, version, tuple(message.aliases))


def config_key(message: pb.ConfigKeyInfo) -> ConfigKey:
    """Read a key."""
    return ConfigKey(
        name=message.name,
        type=message.type,
        required=message.required,
        default_value=message.default_value if message.HasField("default_value") else None,
        importance=message.importance,
        documentation=message.documentation,
        group=message.group if message.HasField("group") else None,
        width=message.width,
        display_name=message.display_name,
        dependents=tuple(message.dependents),
        order=message.order,
    )


def validation(message: pb.ValidateConnectorResponse) -> Validation:
    """Read what validation found."""
    return Validation(
        name=message.name,
        type=message.type,
        error_count=message.error_count,
        groups=tuple(message.groups),
        findings=tuple(map(_finding, message.configs)),
    )


def _finding(message: pb.ConfigInfo) -> ConfigFinding:
    value = message.value
    return ConfigFinding(
        name=value.name,
        value=value.value if value.HasField("value") else None,
        recommended_values=tuple(value.recommended_values),
        errors=tuple(value.errors),
        visible=value.visible,
        definition=config_key(message.definition) if message.HasField("definition") else None,
    )
