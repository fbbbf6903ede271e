"""Placeholders and what they stand for: resolved here, and put back in whatever leaves this process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from copycat_connect.cluster import Config
from copycat_connect.config.framework_names import CONFIG_RELOAD
from copycat_connect.config.placeholders import Placeholders, has_placeholder, restore_placeholders
from copycat_connect.config.secrets import Secrets

NOTHING = Secrets()
#: Of `config.action.reload`, its default.
RESTART = "restart"


@dataclass(frozen=True, slots=True)
class Resolved:
    """A configuration as written and as resolved."""

    raw: Config
    values: Config
    secrets: Secrets = NOTHING
    expires_after: float | None = None
    """Seconds for which the values count; None for ever, or where nothing shall happen then."""

    @classmethod
    def of(cls, raw: Config, placeholders: Placeholders) -> Resolved:
        """Resolve a configuration.

        Raises:
            ConfigError: A config provider failed.
        """
        read = placeholders.read(raw)
        reload = read.values.get(CONFIG_RELOAD) or RESTART
        lives = read.ttl_ms is not None and reload == RESTART
        return cls(raw, read.values, read.secrets, (read.ttl_ms or 0) / 1000 if lives else None)

    def given(self) -> dict[str, str]:
        """Return the resolved values without the null ones, as author code gets them."""
        return {key: value for key, value in self.values.items() if value is not None}

    def restore(self, task_configs: Sequence[Mapping[str, str]]) -> list[dict[str, str]]:
        """Put placeholders back into task configurations, also where a secret got another key."""
        secrets = self.secrets.placeholders
        restored = restore_placeholders(self.raw, self.values, task_configs)
        return [{key: secrets.get(value, value) for key, value in config.items()} for config in restored]

    def scrub(self, text: str) -> str:
        """Put placeholders back into a text: an error's, a trace's."""
        return self.secrets.scrub(text)

    def shown(self, key: str, text: str | None) -> str | None:
        """Return what to show of a validated value: as it was written where it held a placeholder."""
        raw = self.raw.get(key)
        hidden = text is None or text == "[hidden]"
        return text if hidden or not has_placeholder(raw) else raw
