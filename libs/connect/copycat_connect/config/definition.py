"""ConfigDef: a set of keys, and parsing and validation against it as Kafka does them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

from copycat_connect.cluster import Config
from copycat_connect.config.key import ConfigKey
from copycat_connect.config.parsing import ClassLookup, parse_type
from copycat_connect.config.setting import ConfigSetting, ConfigValue
from copycat_connect.errors import ConfigError


def missing_text(name: str) -> str:
    """Return what validation says about a required key that is not set."""
    return f'Missing required configuration "{name}" which has no default value.'


class ConfigDef:
    """The keys a component understands, in order. Immutable."""

    def __init__(self, *keys: ConfigKey) -> None:
        """Define these keys.

        Raises:
            ConfigError: A key is defined twice.
        """
        by_name: dict[str, ConfigKey] = {}
        for key in keys:
            if key.name in by_name:
                raise ConfigError(f"Configuration {key.name} is defined twice.", key=key.name)
            by_name[key.name] = key
        self.keys: Mapping[str, ConfigKey] = MappingProxyType(by_name)

    @property
    def groups(self) -> tuple[str, ...]:
        """The headings, in the order of their first keys."""
        return tuple(dict.fromkeys(key.group for key in self.keys.values() if key.group is not None))

    def extended(self, *keys: ConfigKey) -> ConfigDef:
        """Return a definition with more keys."""
        return ConfigDef(*self.keys.values(), *keys)

    def embedded(self, prefix: str, group: str, first_order: int) -> Iterator[ConfigKey]:
        """Yield the keys as part of a larger definition: prefixed, under one heading, sorted.

        Args:
            prefix: Goes before every name.
            group: The heading.
            first_order: Place of the first key under the heading.
        """
        for order, key in enumerate(self._sorted(), first_order):
            yield _embed(key, prefix, group, order)

    def parse(self, raw: Config, classes: ClassLookup | None = None) -> dict[str, ConfigSetting]:
        """Parse a configuration; keys that are not defined are left out.

        Args:
            raw: The configuration as text.
            classes: Finds classes for keys of type CLASS.

        Returns:
            Every defined key with its parsed value or default.

        Raises:
            ConfigError: A value is wrong or missing; the first one found.
        """
        parsed = {}
        for name, key in self.keys.items():
            value = _parse_one(key, raw, classes)
            if key.validator is not None:
                key.validator(name, value)
            parsed[name] = value
        return parsed

    def validate(self, raw: Config, classes: ClassLookup | None = None) -> list[ConfigValue]:
        """Check a configuration, and find everything that is wrong with it.

        Args:
            raw: The configuration as text.
            classes: Finds classes for keys of type CLASS.

        Returns:
            What was found about each defined key, in order.
        """
        found = {name: _validate_one(key, raw, classes) for name, key in self.keys.items()}
        parsed = {name: value.value for name, value in found.items()}
        for key in self.keys.values():
            if key.recommender is not None:
                _recommend(key, found[key.name], parsed)
        undefined = {name for key in self.keys.values() for name in key.dependents} - self.keys.keys()
        for name in sorted(undefined):
            text = f"{name} is referred in the dependents, but not defined."
            found[name] = ConfigValue(name, errors=[text], visible=False)
        return list(found.values())

    def validate_together(
        self, raw: Config, check: Callable[[], object], *, key: str | None = None
    ) -> list[ConfigValue]:
        """Check single keys and, where each is fine, that they work together.

        Args:
            raw: The configuration as text.
            check: Raises ConfigError where they do not; its field `key` says which key gets the error.
            key: The key that gets an error without one.

        Returns:
            What was found about each defined key, in order.
        """
        found = {value.name: value for value in self.validate(raw)}
        if not any(value.errors for value in found.values()):
            try:
                check()
            except ConfigError as error:
                found[error.fields.get("key") or key or ""].errors.append(error.message)
        return list(found.values())

    def _sorted(self) -> list[ConfigKey]:
        headings = {group: place for place, group in enumerate(self.groups)}

        def rank(key: ConfigKey) -> tuple[int, int, bool, str, str]:
            importance = {"HIGH": "0", "MEDIUM": "1", "LOW": "2"}[key.importance.value]
            heading = -1 if key.group is None else headings[key.group]
            return heading, key.order, key.has_default, importance, key.name

        return sorted(self.keys.values(), key=rank)


def _parse_one(key: ConfigKey, raw: Config, classes: ClassLookup | None) -> ConfigSetting:
    if key.name in raw:
        return parse_type(key.name, raw[key.name], key.type, classes)
    if not key.has_default:
        raise ConfigError(missing_text(key.name), key=key.name)
    return key.default


def _validate_one(key: ConfigKey, raw: Config, classes: ClassLookup | None) -> ConfigValue:
    found = ConfigValue(key.name)
    try:
        found.value = _parse_one(key, raw, classes)
    except ConfigError as error:
        found.errors.append(error.message)
    if key.validator is not None:
        # It runs on null too when parsing failed, so a ranged key gets a second error, as in Kafka.
        try:
            key.validator(key.name, found.value)
        except ConfigError as error:
            found.errors.append(error.message)
    return found


def _recommend(key: ConfigKey, found: ConfigValue, parsed: Mapping[str, ConfigSetting]) -> None:
    assert key.recommender is not None  # the caller looked
    try:
        found.recommended_values = list(key.recommender.valid_values(key.name, parsed))
        found.visible = key.recommender.visible(key.name, parsed)
    except ConfigError as error:
        found.errors.append(error.message)


def _embed(key: ConfigKey, prefix: str, group: str, order: int) -> ConfigKey:
    validator = key.validator
    check = None if validator is None else lambda name, value: validator(name.removeprefix(prefix), value)
    return replace(
        key,
        name=prefix + key.name,
        group=group if key.group is None else f"{group}: {key.group}",
        order=order,
        dependents=tuple(prefix + name for name in key.dependents),
        validator=check,
    )
