"""ConfigInfos: the answer to a validation, in Kafka Connect's order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from copycat_connect.config.key import ConfigKey
from copycat_connect.config.parsing import setting_to_string
from copycat_connect.config.setting import ConfigSetting, ConfigValue


@dataclass(frozen=True, slots=True)
class ConfigInfo:
    """One key: its definition and what was found about its value."""

    name: str
    """The key, with the prefix of the part it belongs to."""
    key: ConfigKey | None
    """The definition, under the name without prefix; None for a key nobody defines."""
    value: ConfigValue
    """What was found."""

    @property
    def value_text(self) -> str | None:
        """The value as REST shows it."""
        return self._text(self.value.value)

    @property
    def default_text(self) -> str | None:
        """The default as REST shows it; None for a required key too."""
        if self.key is None or not self.key.has_default:
            return None
        return self._text(self.key.default)

    @property
    def recommended_texts(self) -> list[str]:
        """The values that would do, as REST shows them."""
        texts = (self._text(value) for value in self.value.recommended_values)
        return [text for text in texts if text is not None]

    def _text(self, value: ConfigSetting) -> str | None:
        return setting_to_string(value, None if self.key is None else self.key.type)


@dataclass(frozen=True, slots=True)
class ConfigInfos:
    """What validation found."""

    name: str
    """The `connector.class` as it was given."""
    groups: tuple[str, ...]
    """The headings, in first-seen order."""
    infos: tuple[ConfigInfo, ...]
    """The keys: those nobody defines first, then in the order of their definitions."""
    error_count: int
    """How many errors there are."""

    def merged(self, parts: Iterable[ConfigInfos | None]) -> ConfigInfos:
        """Return one answer from several."""
        given = [part for part in parts if part is not None]
        return replace(
            self,
            groups=tuple(dict.fromkeys((*self.groups, *(group for part in given for group in part.groups)))),
            infos=(*self.infos, *(info for part in given for info in part.infos)),
            error_count=self.error_count + sum(part.error_count for part in given),
        )


def main_infos(
    name: str, keys: Mapping[str, ConfigKey], values: Iterable[ConfigValue], groups: Iterable[str]
) -> ConfigInfos:
    """Put together the part without prefix; it counts every error text.

    Args:
        name: The `connector.class`.
        keys: The definitions, in order.
        values: What was found; of two about one key the later counts.
        groups: The headings.
    """
    found = {value.name: value for value in values}
    unknown = [ConfigInfo(value.name, None, value) for value in found.values() if value.name not in keys]
    known = [ConfigInfo(name, key, found.get(name) or ConfigValue(name)) for name, key in keys.items()]
    infos = (*unknown, *known)
    errors = sum(len(info.value.errors) for info in infos)
    return ConfigInfos(name, tuple(dict.fromkeys(groups)), infos, errors)


def prefixed_infos(prefix: str, keys: Mapping[str, ConfigKey], values: Sequence[ConfigValue]) -> ConfigInfos:
    """Put together a part whose keys are prefixed, e.g. a converter's; it counts keys that have errors."""
    infos = tuple(ConfigInfo(prefix + value.name, keys.get(value.name), value) for value in values)
    groups = (info.key.group for info in infos if info.key is not None and info.key.group is not None)
    errors = sum(bool(info.value.errors) for info in infos)
    return ConfigInfos("", tuple(dict.fromkeys(groups)), infos, errors)
