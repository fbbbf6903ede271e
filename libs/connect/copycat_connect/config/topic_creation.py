"""Topic creation groups of a source connector (KIP-158): which topic is created how."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from copycat_connect.cluster import Config
from copycat_connect.config.definition import ConfigDef
from copycat_connect.config.framework import SOURCE_CONNECTOR
from copycat_connect.config.framework_names import (
    TOPIC_CREATION_GROUP,
    TOPIC_CREATION_GROUPS,
    TOPIC_CREATION_PREFIX,
)
from copycat_connect.config.key import ConfigKey, Importance
from copycat_connect.config.parsing import invalid_value, setting_text
from copycat_connect.config.setting import ConfigSetting, Type
from copycat_connect.config.user_pattern import UserPattern, compile_user_pattern

DEFAULT_GROUP: Final = "default"
INCLUDE, EXCLUDE = "include", "exclude"
PARTITIONS, REPLICATION_FACTOR = "partitions", "replication.factor"
_OWN: Final = frozenset({INCLUDE, EXCLUDE, PARTITIONS, REPLICATION_FACTOR})


def creation_key(group: str, what: str) -> str:
    """Name a key of a group."""
    return f"{TOPIC_CREATION_PREFIX}{group}.{what}"


_DEFAULT_SIZES: Final = (
    creation_key(DEFAULT_GROUP, PARTITIONS),
    creation_key(DEFAULT_GROUP, REPLICATION_FACTOR),
)


@dataclass(frozen=True, slots=True)
class NewTopic:
    """How to create a topic."""

    name: str
    """Topic name."""
    partitions: int
    """Number of partitions; -1 for the broker's default."""
    replication_factor: int
    """Replication factor; -1 for the broker's default."""
    configs: Mapping[str, str] = field(default_factory=dict)
    """Topic configuration."""
    group: str = ""
    """The group that is for it; empty when no connector's keys ask for it."""


@dataclass(frozen=True, slots=True)
class CreationGroup:
    """One group: the topics it is for, and what it says of them."""

    name: str
    """Its alias."""
    include: tuple[UserPattern, ...]
    """Matches the topics it is for; `default` is for all."""
    exclude: tuple[UserPattern, ...]
    """Matches topics it is not for, whatever `include` says."""
    partitions: int | None
    """Number of partitions; None when another group says it."""
    replication_factor: int | None
    """Replication factor; None when another group says it."""
    configs: Mapping[str, str]
    """Topic configuration."""

    def matches(self, topic: str) -> bool:
        """Return whether the group is for this topic; a full match counts.

        Raises:
            PatternTooSlowError: A pattern does not come to an end.
        """
        if self.name == DEFAULT_GROUP:
            return True
        included = any(pattern.fullmatch(topic) for pattern in self.include)
        return included and not any(pattern.fullmatch(topic) for pattern in self.exclude)


@dataclass(frozen=True, slots=True)
class CreationGroups:
    """A connector's groups in the order of their priority, `default` last."""

    groups: tuple[CreationGroup, ...]
    """Not empty: the last one is for every topic and says partitions and replication factor."""
    strict: bool = False
    """A topic takes what its group does not say from all later ones that are for it (the text of KIP-158);
    otherwise from `default`, and only partitions and replication factor (Kafka Connect)."""

    def new_topic(self, topic: str) -> NewTopic:
        """Describe the topic to create."""
        first, *later = [group for group in self.groups if group.matches(topic)]
        chosen = [first, *(later if self.strict else later[-1:])]
        configs = [group.configs for group in (chosen if self.strict else [first])]
        return NewTopic(
            topic,
            next(group.partitions for group in chosen if group.partitions is not None),
            next(group.replication_factor for group in chosen if group.replication_factor is not None),
            {name: value for each in reversed(configs) for name, value in each.items()},
            first.name,
        )


def creation_groups(config: Config, *, strict: bool = False) -> CreationGroups | None:
    """Read a connector's groups; None when it does not ask for topics to be created.

    It does with any `topic.creation.*` key, and strictly (the text of KIP-158) only when `default` has both
    sizes.

    Raises:
        ConfigError: A value is missing or wrong.
    """
    if not any(key.startswith(TOPIC_CREATION_PREFIX) for key in config):
        return None
    if strict and not all(size in config for size in _DEFAULT_SIZES):
        return None
    names = _listed(config)
    parsed = _definition(names).parse(config)
    listed = [_group(config, parsed, name) for name in names]
    return CreationGroups((*listed, _group(config, parsed, DEFAULT_GROUP)), strict)


def creation_warnings(config: Config) -> Iterator[str]:
    """Say which `topic.creation.*` keys have no effect although they are allowed."""
    if DEFAULT_GROUP in _aliases(config):
        yield f"{TOPIC_CREATION_GROUPS} lists {DEFAULT_GROUP}, which is always there and ranks last"
    for key in (creation_key(DEFAULT_GROUP, INCLUDE), creation_key(DEFAULT_GROUP, EXCLUDE)):
        if key in config:
            yield f"{key} has no effect: the group {DEFAULT_GROUP} is for every topic no other group is for"


def _aliases(config: Config) -> list[str]:
    return list(ConfigDef(SOURCE_CONNECTOR.keys[TOPIC_CREATION_GROUPS]).parse(config)[TOPIC_CREATION_GROUPS])


def _listed(config: Config) -> list[str]:
    return [name for name in _aliases(config) if name != DEFAULT_GROUP]


def _definition(names: list[str]) -> ConfigDef:
    default = (
        _size(DEFAULT_GROUP, REPLICATION_FACTOR, required=True),
        _size(DEFAULT_GROUP, PARTITIONS, required=True),
    )
    return ConfigDef(*default, *(key for name in names for key in _group_keys(name)))


def _group_keys(name: str) -> Iterator[ConfigKey]:
    yield ConfigKey(
        creation_key(name, INCLUDE), Type.LIST, Importance.LOW, validator=_regexes, group=TOPIC_CREATION_GROUP
    )
    yield ConfigKey(
        creation_key(name, EXCLUDE),
        Type.LIST,
        Importance.LOW,
        default=(),
        validator=_regexes,
        group=TOPIC_CREATION_GROUP,
    )
    yield _size(name, REPLICATION_FACTOR, required=False)
    yield _size(name, PARTITIONS, required=False)


def _size(name: str, what: str, *, required: bool) -> ConfigKey:
    kind, valid = (
        (Type.INT, valid_partitions) if what == PARTITIONS else (Type.SHORT, valid_replication_factor)
    )
    key = creation_key(name, what)
    if required:
        return ConfigKey(key, kind, Importance.LOW, validator=valid, group=TOPIC_CREATION_GROUP)
    return ConfigKey(
        key,
        kind,
        Importance.LOW,
        default=None,
        validator=lambda name, value: None if value is None else valid(name, value),
        group=TOPIC_CREATION_GROUP,
    )


def _regexes(name: str, value: ConfigSetting) -> None:
    for text in value:
        try:
            compile_user_pattern(name, text)
        except re.error as error:
            reason = f"Invalid regex {text}: {error}"
            raise invalid_value(name, setting_text(value), reason) from error


def _group(config: Config, parsed: Mapping[str, ConfigSetting], name: str) -> CreationGroup:
    return CreationGroup(
        name,
        include=_compiled(parsed, creation_key(name, INCLUDE)),
        exclude=_compiled(parsed, creation_key(name, EXCLUDE)),
        partitions=parsed[creation_key(name, PARTITIONS)],
        replication_factor=parsed[creation_key(name, REPLICATION_FACTOR)],
        configs=_topic_configs(config, name),
    )


def _compiled(parsed: Mapping[str, ConfigSetting], key: str) -> tuple[UserPattern, ...]:
    return tuple(compile_user_pattern(key, text) for text in parsed.get(key) or () if text)


def _topic_configs(config: Config, group: str) -> dict[str, str]:
    prefix = creation_key(group, "")
    found = {key.removeprefix(prefix): value for key, value in config.items() if key.startswith(prefix)}
    return {name: value for name, value in found.items() if value is not None and name not in _OWN}


def valid_partitions(name: str, value: ConfigSetting) -> None:
    """Accept numbers of partitions."""
    if value is None or (value < 1 and value != -1):
        reason = "Number of partitions must be positive, or -1 to use the broker's default"
        raise invalid_value(name, value, reason)


def valid_replication_factor(name: str, value: ConfigSetting) -> None:
    """Accept replication factors; whether there are brokers enough shows when the topic is created."""
    if value is None or (value < 1 and value != -1):
        reason = (
            "Replication factor must be positive and not larger than the number of brokers "
            "in the Kafka cluster, or -1 to use the broker's default"
        )
        raise invalid_value(name, value, reason)
