"""Placeholders and what they stand for: resolved here, and put back in whatever leaves this process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from copycat_connect.config.placeholders import Placeholders, has_placeholder, restore_placeholders

Config = Mapping[str, str | None]
#: Shorter values are too common to be told from others by what they are.
TELLING = 6


@dataclass(frozen=True, slots=True)
class Resolved:
    """A configuration as written and as resolved."""

    raw: Config
    values: Config

    @classmethod
    def of(cls, raw: Config, placeholders: Placeholders) -> Resolved:
        """Resolve a configuration.

        Raises:
            ConfigError: A config provider failed.
        """
        return cls(raw, placeholders.resolve(raw))

    def given(self) -> dict[str, str]:
        """Return the resolved values without the null ones, as author code gets them."""
        return {key: value for key, value in self.values.items() if value is not None}

    def restore(self, task_configs: Sequence[Mapping[str, str]]) -> list[dict[str, str]]:
        """Put placeholders back into task configurations, also where a secret got another key."""
        secrets = self._secrets()
        restored = restore_placeholders(self.raw, self.values, task_configs)
        return [{key: secrets.get(value, value) for key, value in config.items()} for config in restored]

    def scrub(self, text: str) -> str:
        """Put placeholders back into a text: an error's, a trace's."""
        for secret, placeholder in self._secrets().items():
            text = text.replace(secret, placeholder)
        return text

    def shown(self, key: str, text: str | None) -> str | None:
        """Return what to show of a validated value: as it was written where it held a placeholder."""
        raw = self.raw.get(key)
        hidden = text is None or text == "[hidden]"
        return text if hidden or not has_placeholder(raw) else raw

    def _secrets(self) -> dict[str, str]:
        found = {}
        for key, raw in self.raw.items():
            value = self.values.get(key)
            if raw is not None and value and value != raw and len(value) >= TELLING:
                found[value] = raw
        return dict(sorted(found.items(), key=lambda pair: -len(pair[0])))  # the longest first
