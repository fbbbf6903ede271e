"""Topic creation groups of a source connector (KIP-158): which topic is created how."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol

from copycat_connect.errors import ConfigError

Config = Mapping[str, str | None]

_PREFIX: Final = "topic.creation."
_DEFAULT: Final = "default"
_OWN_KEYS: Final = frozenset({"include", "exclude", "partitions", "replication.factor"})


class TopicCreator(Protocol):
    """Makes sure that a topic is there before its first record."""

    def ensure(self, topic: str) -> None:
        """Create the topic when it is missing; blocks. Called once per topic.

        Raises:
            ConnectError: It is missing and cannot be created.
        """


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


@dataclass(frozen=True, slots=True)
class CreationGroup:
    """One rule."""

    name: str
    include: tuple[re.Pattern[str], ...]
    exclude: tuple[re.Pattern[str], ...]
    partitions: int
    replication_factor: int
    configs: Mapping[str, str]

    def matches(self, topic: str) -> bool:
        """Tell whether the rule is for this topic; a full match counts."""
        included = any(pattern.fullmatch(topic) for pattern in self.include)
        return included and not any(pattern.fullmatch(topic) for pattern in self.exclude)

    def new_topic(self, topic: str) -> NewTopic:
        """Describe the topic to create."""
        return NewTopic(topic, self.partitions, self.replication_factor, self.configs)


def creation_groups(config: Config) -> tuple[CreationGroup, ...]:
    """Read a connector's groups, `default` last; none when it has no `topic.creation.*` key.

    Raises:
        ConfigError: A value is missing or wrong.
    """
    if not any(key.startswith(_PREFIX) for key in config):
        return ()
    names = [name.strip() for name in (config.get(f"{_PREFIX}groups") or "").split(",")]
    default = _default(config)
    ordered = [_group(config, name, default) for name in names if name and name != _DEFAULT]
    return (*ordered, default)


def new_topic(groups: tuple[CreationGroup, ...], topic: str) -> NewTopic:
    """Choose the first group that matches; the default one matches all."""
    return next(group for group in groups if group.matches(topic)).new_topic(topic)


def _default(config: Config) -> CreationGroup:
    return CreationGroup(
        _DEFAULT,
        include=(re.compile(".*"),),
        exclude=(),
        partitions=_number(config, _DEFAULT, "partitions", None),
        replication_factor=_number(config, _DEFAULT, "replication.factor", None),
        configs=_topic_configs(config, _DEFAULT),
    )


def _group(config: Config, name: str, default: CreationGroup) -> CreationGroup:
    return CreationGroup(
        name,
        include=_patterns(config, name, "include", required=True),
        exclude=_patterns(config, name, "exclude", required=False),
        partitions=_number(config, name, "partitions", default.partitions),
        replication_factor=_number(config, name, "replication.factor", default.replication_factor),
        configs=_topic_configs(config, name),
    )


def _patterns(config: Config, group: str, what: str, *, required: bool) -> tuple[re.Pattern[str], ...]:
    key = f"{_PREFIX}{group}.{what}"
    text = config.get(key)
    if text is None and required:
        message = f'Missing required configuration "{key}" which has no default value.'
        raise ConfigError(message, key=key)
    try:
        return tuple(re.compile(part.strip()) for part in (text or "").split(",") if part.strip())
    except re.error as error:
        message = f"Invalid value {text} for configuration {key}: {error}"
        raise ConfigError(message, key=key) from error


def _number(config: Config, group: str, what: str, default: int | None) -> int:
    key = f"{_PREFIX}{group}.{what}"
    text = config.get(key)
    if text is None:
        if default is None:
            message = f'Missing required configuration "{key}" which has no default value.'
            raise ConfigError(message, key=key)
        return default
    try:
        number = int(text)
    except ValueError as error:
        message = f"Invalid value {text} for configuration {key}: Not a number of type INT"
        raise ConfigError(message, key=key) from error
    if number < 1 and number != -1:
        message = f"Invalid value {text} for configuration {key}: must be positive or -1"
        raise ConfigError(message, key=key)
    return number


def _topic_configs(config: Config, group: str) -> dict[str, str]:
    prefix = f"{_PREFIX}{group}."
    return {
        key.removeprefix(prefix): value
        for key, value in config.items()
        if key.startswith(prefix) and value is not None and key.removeprefix(prefix) not in _OWN_KEYS
    }
